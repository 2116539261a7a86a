"""What a supervisor reads: the server's orders, what the child prints, and the wake-up of a SIGCHLD.

What is done about an order or an ended child is decided in `supervisor`. Standard library only.
"""

import os
import selectors
import signal
import time
from typing import IO

from pytest_mcp.process.supervisor_protocol import Order, decode_order

# A child that prints one character at a time is not read one at a time: each read costs it its core.
OUTPUT_PAUSE_SECONDS = 0.02
LITTLE_OUTPUT = 4096
CHUNK = 65536
STDIN = 0


class OutputStream:
    """The head and the tail of a stream, and how much there was."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.kept - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[: -self.kept]

    @property
    def left_out(self) -> int:
        return self.total - len(self.head) - len(self.tail)

    def text(self) -> str:
        head, tail = (part.decode("utf-8", "backslashreplace") for part in (self.head, self.tail))
        note = f"\n[... {self.left_out} bytes left out ...]\n" if self.left_out else ""
        return f"{head}{note}{tail}".replace("\r\n", "\n")


class Control:
    """The server's orders on stdin, as far as they have come. Two may come in one read."""

    def __init__(self) -> None:
        self.received = bytearray()

    def read(self) -> bool:
        """Read what there is, or wait for it; False at the end of stdin."""
        chunk = os.read(STDIN, CHUNK)
        self.received += chunk
        return bool(chunk)

    def order(self) -> Order | None:
        """The next whole line, or None."""
        line, newline, rest = self.received.partition(b"\n")
        if not newline:
            return None
        self.received = rest
        return decode_order(bytes(line))


class Input:
    """Everything that is waited for while a child runs."""

    def __init__(self, control: Control, stdout: IO[bytes] | None, stderr: IO[bytes] | None, kept_output: int) -> None:
        self.control = control
        self.stdout, self.stderr = OutputStream(kept_output), OutputStream(kept_output)
        self.selector = selectors.DefaultSelector()
        # What cannot wait: the server's orders and the end of a child.
        self.urgent = selectors.DefaultSelector()
        self.wakeup = wakeup_on_sigchld()
        for descriptor in (STDIN, self.wakeup):
            for selector in (self.selector, self.urgent):
                selector.register(descriptor, selectors.EVENT_READ)
        for pipe, output in ((stdout, self.stdout), (stderr, self.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self.selector.register(pipe, selectors.EVENT_READ, output)

    def wait(self, timeout: float | None) -> bool:
        """Wait for anything, and read it; False when the server has closed stdin."""
        printed = 0
        for key, _ in self.selector.select(timeout):
            if key.fd == STDIN:
                if not self.control.read():
                    return False
            elif key.fd == self.wakeup:
                os.read(key.fd, CHUNK)
            else:
                printed += self.read(key)
        if 0 < printed < LITTLE_OUTPUT:
            self.urgent.select(OUTPUT_PAUSE_SECONDS)
        return True

    def read(self, key: selectors.SelectorKey) -> int:
        """Keep what has been printed, and return how much it was."""
        try:
            chunk = os.read(key.fd, CHUNK)
        except OSError:
            return 0
        if chunk:
            key.data.add(chunk)
        else:
            self.selector.unregister(key.fileobj)
        return len(chunk)

    def only_output(self) -> None:
        """From now on neither an order nor the end of a child changes anything."""
        for descriptor in (STDIN, self.wakeup):
            self.selector.unregister(descriptor)

    def pause(self, seconds: float) -> None:
        """Read what is printed meanwhile."""
        self.selector.select(seconds)
        for key, _ in self.selector.select(0):
            self.read(key)

    def drain(self, seconds: float) -> None:
        """Read until nobody has the pipes open any more."""
        end = time.monotonic() + seconds
        while self.selector.get_map() and time.monotonic() < end:
            for key, _ in self.selector.select(end - time.monotonic()):
                self.read(key)


def wakeup_on_sigchld() -> int:
    """A descriptor that can be read whenever a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader
