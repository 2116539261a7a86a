"""Lines from stdin, each of bounded length, and lines to stdout. What they say is not looked at here.

No thread blocks on either, so that a signal ends the server at once. A line without an end does not fill the memory.
A client that has closed its end and no longer reads does not keep the server alive.
"""

import os
import select
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio

from pytest_mcp.server.fast_start import STALLED_SECONDS, has_left
from pytest_mcp.server.incoming import MAX_MESSAGE_BYTES

_CHUNK = 64 * 1024


async def lines(descriptor: int, heard: bytes = b"") -> AsyncIterator[bytes]:
    """Yield every line, beginning with what was read before (`heard`); at the end also an unfinished one.

    A line that is too long ends early: what is yielded is too long as well, and the rest is dropped.
    """
    kept: list[bytes] = []
    length = 0
    while chunk := heard or await _read(descriptor):
        heard = b""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if length <= MAX_MESSAGE_BYTES:
                yield b"".join([*kept, end])
            kept, length = [], 0
        if length <= MAX_MESSAGE_BYTES:
            length += len(rest)
            kept.append(rest)
            if length > MAX_MESSAGE_BYTES:
                yield b"".join(kept)
                kept = []
    if any(kept):
        yield b"".join(kept)


async def _read(descriptor: int) -> bytes:
    # A regular file is always readable; the event loop refuses to wait for it.
    with suppress(PermissionError):
        await anyio.wait_readable(descriptor)
    return os.read(descriptor, _CHUNK)


class Outlet:
    """stdout, as the SDK writes to it: line by line."""

    def __init__(self, descriptor: int, source: int) -> None:
        self.descriptor = descriptor
        # stdin. A client that has closed it and reads no answer for a while has left.
        self.source = source
        self.source_ended = False
        self.turn = anyio.Lock()

    async def write(self, line: str) -> None:
        async with self.turn:
            data = line.encode()
            for start in range(0, len(data), select.PIPE_BUF):
                await self._write_piece(data[start : start + select.PIPE_BUF])

    async def flush(self) -> None:
        """Everything is written at once."""

    async def _write_piece(self, piece: bytes) -> None:
        while piece:
            # Where there is room at all, so many bytes never block (POSIX), with or without O_NONBLOCK.
            await self._room()
            piece = piece[os.write(self.descriptor, piece) :]

    async def _room(self) -> None:
        while not select.select([], [self.descriptor], [], 0)[1]:
            with anyio.move_on_after(STALLED_SECONDS) as wait:
                await anyio.wait_writable(self.descriptor)
            if wait.cancelled_caught and (self.source_ended or has_left(self.source)):
                raise BrokenPipeError("the client has closed stdin and does not read stdout")


@contextmanager
def outlet() -> Iterator[Outlet]:
    """stdout for answers alone: whatever else is printed during the block goes to stderr."""
    shared = sys.stdout.fileno()
    own = os.dup(shared)
    try:
        try:
            os.dup2(sys.stderr.fileno(), shared)
        except (OSError, AttributeError):
            # stderr was closed before we were started.
            with Path(os.devnull).open("wb") as nothing:
                os.dup2(nothing.fileno(), shared)
        yield Outlet(own, sys.stdin.fileno())
    finally:
        os.dup2(own, shared)
        os.close(own)
