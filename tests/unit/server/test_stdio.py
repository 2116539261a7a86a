"""Lines from a real pipe, however they are cut into pieces on their way."""

import os
import socket
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.server import stdio
from pytest_mcp.server.incoming import MAX_MESSAGE_BYTES
from pytest_mcp.server.stdio import Outlet
from tests.support.waiting import PATIENCE


async def sent(*pieces: bytes, heard: bytes = b"") -> list[bytes]:
    """What comes out of a pipe into which these pieces are written one by one."""
    reader, writer = os.pipe()
    received: list[bytes] = []

    async def receive() -> None:
        received.extend([line async for line in stdio.lines(reader, heard)])

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            for piece in pieces:
                await anyio.to_thread.run_sync(os.write, writer, piece)
            os.close(writer)
    finally:
        os.close(reader)
    return received


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=30), max_size=5), st.data())
def test_every_line_arrives_whole_and_in_order_however_it_was_cut(lines: list[str], data: st.DataObject) -> None:
    whole = "".join(f"{line}\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    assert anyio.run(lambda: sent(*pieces)) == [line.encode() for line in lines]


@pytest.mark.anyio
async def test_of_a_line_without_end_the_beginning_comes_and_then_the_next_line() -> None:
    endless = [b"x" * 65536] * (MAX_MESSAGE_BYTES // 65536 + 2)

    first, beginning, last = await sent(b"first\n", *endless, b"end\nlast\n")

    assert (first, last) == (b"first", b"last")
    assert MAX_MESSAGE_BYTES < len(beginning) <= MAX_MESSAGE_BYTES + 65536


@pytest.mark.anyio
async def test_what_was_read_before_comes_first_and_its_last_line_goes_on() -> None:
    assert await sent(b"o\nthree\n", heard=b"one\ntw") == [b"one", b"two", b"three"]
    assert await sent(heard=b"one\ntwo") == [b"one", b"two"]
    assert await sent(b"\xff\xfe\ntw", b"o") == [b"\xff\xfe", b"two"]


@pytest.mark.anyio
async def test_a_regular_file_can_stand_in_for_a_client(tmp_path: Path) -> None:
    path = tmp_path / "recorded"
    path.write_text("one\ntwo\n", encoding="utf-8")
    descriptor = os.open(path, os.O_RDONLY)

    try:
        assert [line async for line in stdio.lines(descriptor)] == [b"one", b"two"]
    finally:
        os.close(descriptor)


@pytest.mark.anyio
@pytest.mark.parametrize("channel", ["pipe", "socket"])
async def test_a_client_that_has_left_and_reads_nothing_is_not_waited_for(channel: str) -> None:
    """Its last words are unread too: nobody gets to the end of the input while an answer blocks."""
    (source, client), (reader, target) = (os.pipe(), os.pipe()) if channel == "pipe" else (sockets(), sockets())
    os.write(client, b"unread")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write_until_it_breaks, Outlet(target, source))
        await anyio.wait_all_tasks_blocked()
        os.close(client)

    for descriptor in (source, reader, target):
        os.close(descriptor)


def sockets() -> tuple[int, int]:
    return tuple(end.detach() for end in socket.socketpair())  # type: ignore[return-value]  # there are two


async def write_until_it_breaks(outlet: Outlet) -> None:
    with anyio.fail_after(PATIENCE), pytest.raises(BrokenPipeError):
        await outlet.write("x" * 2**22)


@pytest.mark.anyio
async def test_a_client_that_reads_late_gets_every_line_whole() -> None:
    source, client = os.pipe()
    reader, target = os.pipe()
    said = [f"{letter * 100_000}\n" for letter in "abc"]

    async with anyio.create_task_group() as tasks:
        outlet = Outlet(target, source)
        for line in said:
            tasks.start_soon(outlet.write, line)
        await anyio.wait_all_tasks_blocked()
        with os.fdopen(reader, encoding="ascii") as answers:
            told = await anyio.to_thread.run_sync(lambda: [answers.readline() for _ in said])

    assert told == said
    for descriptor in (source, client, target):
        os.close(descriptor)
