"""What many test files reach, all at once.

The nodes of a graph are names, files and the like; a set of test files is the bits of a number. What is reached spreads
along edges; a node that needs two others gets what reaches both of them. A node's edges are added when it is first
reached, so what no test reaches costs nothing.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator

Key = tuple[str, ...]


class Spread:
    def __init__(self, expand: Callable[[Key], None]) -> None:
        self._expand = expand
        self._ids: dict[Key, int] = {}
        self.keys: list[Key] = []
        self._bits: list[int] = []
        self._next: list[set[int]] = []
        self._needs: dict[int, tuple[int, int]] = {}
        self._expanded = bytearray()
        self._queue: deque[int] = deque()
        self._queued = bytearray()

    def node(self, key: Key) -> int:
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self.keys)
            self.keys.append(key)
            self._bits.append(0)
            self._next.append(set())
            self._expanded.append(0)
            self._queued.append(0)
        return number

    def start(self, key: Key, bits: int) -> None:
        self._give(self.node(key), bits)

    def edge(self, start: Key, end: Key) -> None:
        first, second = self.node(start), self.node(end)
        if second not in self._next[first]:
            self._next[first].add(second)
            self._give(second, self._bits[first])

    def pair(self, one: Key, other: Key, end: Key) -> None:
        """What reaches both also reaches the end."""
        first, second = self.node(one), self.node(other)
        both = self.node(("both", *one, "", *other))
        self._needs[both] = (first, second)
        self._next[first].add(both)
        self._next[second].add(both)
        self._give(both, self._bits[first] & self._bits[second])
        self.edge(self.keys[both], end)

    def _give(self, number: int, bits: int) -> None:
        if bits & ~self._bits[number]:
            self._bits[number] |= bits
            if not self._queued[number]:
                self._queued[number] = 1
                self._queue.append(number)

    def run(self) -> None:
        bits, needs = self._bits, self._needs
        while self._queue:
            number = self._queue.popleft()
            self._queued[number] = 0
            if not self._expanded[number]:
                self._expanded[number] = 1
                self._expand(self.keys[number])
            own = bits[number]
            for end in self._next[number]:
                if end in needs:
                    first, second = needs[end]
                    self._give(end, bits[first] & bits[second])
                elif own & ~bits[end]:
                    self._give(end, own)

    def bits(self, key: Key) -> int:
        number = self._ids.get(key)
        return 0 if number is None else self._bits[number]

    def after(self, key: Key) -> Iterator[Key]:
        """What its edges lead to."""
        return (self.keys[end] for end in self._next[self.node(key)])

    def distances(self, ends: Iterable[Key]) -> Iterator[tuple[Key, int, int, Key]]:
        """Backwards from these nodes: each node, how far it is, for which bits, and the node that comes after it."""
        before: defaultdict[int, list[int]] = defaultdict(list)
        for number, following in enumerate(self._next):
            if self._bits[number]:
                for end in following:
                    before[end].append(number)
        level = {self.node(end): self.bits(end) for end in ends}
        seen = dict(level)
        distance = 0
        while level:
            distance += 1
            following_level: dict[int, int] = {}
            for number, bits in level.items():
                for earlier in before[number]:
                    new = bits & self._bits[earlier] & ~seen.get(earlier, 0)
                    if new:
                        seen[earlier] = seen.get(earlier, 0) | new
                        following_level[earlier] = following_level.get(earlier, 0) | new
                        yield self.keys[earlier], distance, new, self.keys[number]
            level = following_level
