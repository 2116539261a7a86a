"""Lines from a real pipe, however they are cut into pieces on their way."""

import os
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp import wire


async def sent(*pieces: bytes, heard: bytes = b"") -> list[str]:
    """What comes out of a pipe into which these pieces are written one by one."""
    reader, writer = os.pipe()
    received: list[str] = []

    async def receive() -> None:
        received.extend([line async for line in wire.lines(reader, heard)])

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

    assert anyio.run(lambda: sent(*pieces)) == [f"{line}\n" for line in lines]


@pytest.mark.anyio
async def test_a_line_without_end_is_dropped_and_the_next_one_is_heard() -> None:
    endless = [b"x" * 65536] * (wire.LONGEST_LINE // 65536 + 1)

    assert await sent(b"first\n", *endless, b"end\nlast\n") == ["first\n", "last\n"]


@pytest.mark.anyio
async def test_what_stands_after_the_last_newline_is_a_line_too() -> None:
    assert await sent(b"one\ntw", b"o") == ["one\n", "two\n"]


@pytest.mark.anyio
async def test_what_was_read_before_comes_first_and_its_last_line_goes_on() -> None:
    assert await sent(b"o\nthree\n", heard=b"one\ntw") == ["one\n", "two\n", "three\n"]
    assert await sent(heard=b"one\ntwo") == ["one\n", "two\n"]


@pytest.mark.anyio
async def test_bytes_that_are_no_text_do_not_end_the_conversation() -> None:
    assert await sent(b"\xff\xfe\n", b"next\n") == ["\ufffd\ufffd\n", "next\n"]


@pytest.mark.anyio
async def test_a_regular_file_can_stand_in_for_a_client(tmp_path: Path) -> None:
    path = tmp_path / "recorded"
    path.write_text("one\ntwo\n", encoding="utf-8")
    descriptor = os.open(path, os.O_RDONLY)

    try:
        assert [line async for line in wire.lines(descriptor)] == ["one\n", "two\n"]
    finally:
        os.close(descriptor)
