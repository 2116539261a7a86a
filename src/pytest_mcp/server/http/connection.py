"""One connection of an HTTP client: uvicorn's, with timeouts and strict parsing of header lines.

uvicorn waits forever for the rest of a header, and for a client to read its answer. Its parser (h11) accepts more than
RFC 9112 allows, and where two parsers disagree on where a request ends, a second request can be hidden in it. What a
request may hold is decided in `guard`.
"""

import asyncio
import re
from typing import Any

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

# For a request's headers to arrive, and for the first byte of them.
HEADER_SECONDS = 10
# A client must read at least so many bytes of an answer in so many seconds. What the system buffers counts as read.
STALLED_SECONDS = 30
LEAST_TAKEN = 2**20
# A connection without a request is closed after so many seconds.
IDLE_SECONDS = 30
# A fraction of the descriptors that a process may open: runs need some too.
MOST_CONNECTIONS = 256

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
# A line that ends without a carriage return, or that begins with a space and so continues the one before it.
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\n[ \t]")
_LENGTH = re.compile(rb"^content-length[ \t]*:([^\n]*)", re.IGNORECASE | re.MULTILINE)


class StrictLines(ReceiveBuffer):
    """h11's buffer of received bytes, which refuses header lines that parsers read differently."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None:
            _check_lines(before[: len(before) - len(self)])
        return lines


def _check_lines(head: bytes) -> None:
    lengths = _LENGTH.findall(head)
    if _AMBIGUOUS.search(head) or len(lengths) > 1 or any(b"," in length for length in lengths):
        # h11 makes a RemoteProtocolError of it, and uvicorn a 400 that closes the connection.
        raise LocalProtocolError("header lines that can be read in two ways")


class Connection(H11Protocol):
    arriving: asyncio.TimerHandle | None = None
    stalled: asyncio.TimerHandle | None = None

    def __init__(self, *settings: Any, **named_settings: Any) -> None:
        super().__init__(*settings, **named_settings)
        # h11 has no public way to do this. The tests send what must be refused, so they notice if it changes.
        self.conn._receive_buffer = StrictLines()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        else:
            self._expect_headers()

    def data_received(self, data: bytes) -> None:
        if self.arriving is None and self._is_idle():
            self._expect_headers()
        super().data_received(data)
        if self.arriving is not None and not self._is_idle():
            self.arriving.cancel()
            self.arriving = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.stalled is not None:
            self.stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self.arriving, self.stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        self.arriving = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _expect_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        self.stalled = self.loop.call_later(STALLED_SECONDS, self._check_reading, left)

    def _check_reading(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < LEAST_TAKEN:
            self.transport.abort()
        else:
            self._expect_reading()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete
