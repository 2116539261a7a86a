"""The client's lines as they arrive on standard input, each bounded.

Owning the reader costs no thread, so a signal finds nobody blocked, and keeps a line without end from
filling the memory: such a line is dropped whole, as no request of ours is that long.
"""

import logging
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import anyio

# Two thousand node ids of the greatest length, and as much again.
LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 64 * 1024
# Any escape of a JSON string, read from its backslash on, so that `\\\\ud800` is seen for what it is.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)

logger = logging.getLogger(__name__)


async def lines(descriptor: int, heard: bytes = b"") -> AsyncIterator[str]:
    """Every whole line, and at the end what stands after the last one; first of all what was heard before."""
    kept: list[bytes] = []
    length = 0
    while chunk := heard or await _read(descriptor):
        heard = b""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if length + len(end) <= LONGEST_LINE:
                yield decoded([*kept, end])
            else:
                logger.warning("dropped a line of more than %d bytes", LONGEST_LINE)
            kept, length = [], 0
        length += len(rest)
        # What is too long already is only counted.
        kept = [*kept, rest] if length <= LONGEST_LINE else []
    if kept and length <= LONGEST_LINE and any(kept):
        yield decoded(kept)


def decoded(parts: Sequence[bytes | bytearray]) -> str:
    """The line as text. What is no text, in bytes or as half of an escaped pair, becomes U+FFFD.

    The SDK would drop a line with a lone surrogate without a word, and its caller would wait for ever.
    """
    line = b"".join(parts).decode("utf-8", errors="replace") + "\n"
    return _ESCAPE.sub(_mended, line) if "\\u" in line else line


def _mended(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape.group("lone") else escape.group()


async def _read(descriptor: int) -> bytes:
    # A regular file is always readable and cannot be waited for.
    with suppress(PermissionError):
        await anyio.wait_readable(descriptor)
    return os.read(descriptor, _CHUNK)
