"""Answers that cost a second, kept as long as the files that they rest on are as they were.

In come a key and the way to find out; out comes the answer, found out or remembered. A remembered one costs a look
at its files. Calls that come while it is found out wait for that one. What rests on which files is told by the caller.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import anyio

Answer = TypeVar("Answer")
# Where a path leads, when that was changed, its size and its number; None for what is not there.
Stamp = tuple[str, int, int, int] | None


@dataclass(frozen=True)
class Finding(Generic[Answer]):
    """An answer and what its files were like before anyone asked; without those it is not to be remembered."""

    answer: Answer
    stamps: Mapping[Path, Stamp] | None


@dataclass
class _Search(Generic[Answer]):
    """One that is under way. It has no finding in the end if whoever began it was cancelled."""

    over: anyio.Event = field(default_factory=anyio.Event)
    finding: Finding[Answer] | None = None


class Memory(Generic[Answer]):
    def __init__(self) -> None:
        self._kept: dict[Hashable, Finding[Answer]] = {}
        self._searches: dict[Hashable, _Search[Answer]] = {}

    async def recall(self, key: Hashable, find: Callable[[], Awaitable[Finding[Answer]]]) -> Answer:
        while (other := self._searches.get(key)) is not None:
            await other.over.wait()
            if other.finding is not None:
                return other.finding.answer
        kept = self._kept.get(key)
        if kept is not None and kept.stamps == stamped(kept.stamps or ()):
            return kept.answer
        finding = await self._search(key, find)
        if finding.stamps is not None:
            self._kept[key] = finding
        return finding.answer

    async def _search(self, key: Hashable, find: Callable[[], Awaitable[Finding[Answer]]]) -> Finding[Answer]:
        search = self._searches[key] = _Search[Answer]()
        try:
            search.finding = await find()
            return search.finding
        finally:
            del self._searches[key]
            search.over.set()


def stamped(paths: Iterable[Path]) -> dict[Path, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> Stamp:
    try:
        real = path.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError, ValueError):
        return None
    return str(real), found.st_mtime_ns, found.st_size, found.st_ino
