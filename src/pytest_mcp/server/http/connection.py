"""One connection of an HTTP client: uvicorn's, with timeouts.

uvicorn waits forever for the rest of a header, and for a client to read its answer. What a request may hold is decided
in `guard`.
"""

import asyncio

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


class Connection(H11Protocol):
    arriving: asyncio.TimerHandle | None = None
    stalled: asyncio.TimerHandle | None = None

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
