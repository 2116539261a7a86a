"""What a child has printed: its beginning, its end, and how much is missing between them. Standard library only."""


class Output:
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
        head, tail = (bytes(part).decode("utf-8", "backslashreplace") for part in (self.head, self.tail))
        return head + (f"\n[... {self.left_out} bytes left out ...]\n" if self.left_out else "") + tail
