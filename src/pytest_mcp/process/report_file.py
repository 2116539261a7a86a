"""The report file: created before the child gets its job, read while the child appends to it.

What a line means is decided in `run/decode.py`. For a program that has no job, the same file takes what it writes to
stdout.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from pytest_mcp.process.job import ReportState
from pytest_mcp.process.run_folder import Folder, FolderError
from pytest_mcp.process.start import REPORT_LIMIT

# How often the report of a running child is read. This delays progress only, never the answer.
POLL_SECONDS = 0.1
# No record is longer; a longer line is ignored.
MAX_LINE = 32 * 1024 * 1024
# How far a child may be ahead of us when it ends, in line ends, and how many seconds are spent on what is beyond.
# Writing a record takes a child ten times as long as reading it takes us, so only records that no reporter wrote
# can be that many.
BACKLOG = 100_000
CATCH_UP_SECONDS = 1.0

OnLine = Callable[[bytes], None]


@dataclass
class ReportReader:
    descriptor: int
    on_line: OnLine
    offset: int = 0
    pieces: list[bytes] = field(default_factory=list)
    length: int = 0
    lines: int = 0
    ends: int = 0
    unread: bool = False
    chunk: int = 256 * 1024
    backlog: int = BACKLOG
    catch_up_seconds: float = CATCH_UP_SECONDS

    def __post_init__(self) -> None:
        self._created = os.fstat(self.descriptor).st_mtime_ns

    @property
    def state(self) -> ReportState:
        """Read from the file itself: if a test empties it, there are no lines."""
        if self.unread:
            return "unread"
        status = os.fstat(self.descriptor)
        if status.st_mtime_ns == self._created:
            return "unwritten"
        return "truncated" if status.st_size < max(self.offset, 1) else "kept"

    async def read(self, *, has_ended: bool) -> None:
        """Read what is there by now, in chunks; of a child that has ended as much as can be read in time."""
        before, deadline = self.ends, anyio.current_time() + self.catch_up_seconds
        while self._read_chunk():
            # Other tasks run meanwhile.
            await anyio.sleep(0)
            if has_ended and self.ends - before > self.backlog and anyio.current_time() > deadline:
                self.unread = True
                return

    def _read_chunk(self) -> bool:
        chunk = os.pread(self.descriptor, self.chunk, self.offset) if self.offset < REPORT_LIMIT else b""
        self.offset += len(chunk)
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._keep(end)
            line = b"".join(self.pieces)
            self.pieces, self.length = [], 0
            if line:
                self.lines += 1
                self.on_line(line)
        self._keep(rest)
        self.ends += len(ends)
        return bool(chunk)

    def _keep(self, piece: bytes) -> None:
        self.length += len(piece)
        # Nothing is kept of a line that is too long.
        self.pieces = [*self.pieces, piece] if self.length <= MAX_LINE else []

    async def follow(self) -> None:
        try:
            while True:
                await self.read(has_ended=False)
                await anyio.sleep(POLL_SECONDS)
        finally:
            # What an interrupted run has reported since the last time belongs to its answer.
            self._read_chunk()


@contextmanager
def report_in(folder: Folder, name: str, given: bytes) -> Iterator[int]:
    """Create the empty report, yielded as a descriptor, and the file from which the child reads what it is given."""
    try:
        with os.fdopen(folder.create(name, os.O_WRONLY), "wb") as handle:
            handle.write(given)
        descriptor = folder.create("report", os.O_RDWR | os.O_APPEND)
    except OSError as error:
        raise FolderError(error.strerror or str(error)) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
