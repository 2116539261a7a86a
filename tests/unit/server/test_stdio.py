"""Lines from a real pipe, however they are cut into pieces on their way."""

import os
from pathlib import Path

import anyio
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.server import stdio


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


async def test_what_was_read_before_comes_first_and_its_last_line_goes_on() -> None:
    assert await sent(b"o\nthree\n", heard=b"one\ntw") == [b"one", b"two", b"three"]
    assert await sent(heard=b"one\ntwo") == [b"one", b"two"]
    assert await sent(b"\xff\xfe\ntw", b"o") == [b"\xff\xfe", b"two"]


async def test_a_regular_file_can_stand_in_for_a_client(tmp_path: Path) -> None:
    path = tmp_path / "recorded"
    path.write_text("one\ntwo\n", encoding="utf-8")
    descriptor = os.open(path, os.O_RDONLY)

    try:
        assert [line async for line in stdio.lines(descriptor)] == [b"one", b"two"]
    finally:
        os.close(descriptor)
