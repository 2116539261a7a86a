"""Log lines on stderr, without waiting for whoever reads it.

In come log records and the descriptor of stderr. A client may never read the other end; a write to a full pipe would
then block the event loop and with it every answer. So a line that finds no room is dropped, and the next one that
finds room is preceded by the number of dropped lines. What a line looks like is decided in `log_format`.
"""

import logging
import os
import select


class NonBlockingHandler(logging.Handler):
    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        # The end of a line of which the beginning is written. No other line is begun before it is complete.
        self.unwritten = b""
        self.dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(b"")
            if self.unwritten:
                self.dropped += 1
                return
            lines = self._line(record)
            if self.dropped:
                lines = self._line(_note_of(self.dropped)) + lines
            self.dropped = 0
            self._write(lines)
        except Exception:  # noqa: BLE001 - a record that cannot be formatted or written must not fail its caller
            self.dropped += 1

    def flush(self) -> None:
        self._write(b"")

    def _line(self, record: logging.LogRecord) -> bytes:
        return self.format(record).encode("utf-8", "backslashreplace") + b"\n"

    def _write(self, lines: bytes) -> None:
        self.unwritten += lines
        # Where there is room at all, so many bytes never block (POSIX).
        while self.unwritten and select.select([], [self.descriptor], [], 0)[1]:
            written = os.write(self.descriptor, self.unwritten[: select.PIPE_BUF])
            self.unwritten = self.unwritten[written:]


def _note_of(dropped: int) -> logging.LogRecord:
    message = f"{dropped} log lines could not be written and were dropped"
    return logging.LogRecord(__name__, logging.WARNING, __file__, 0, message, None, None)
