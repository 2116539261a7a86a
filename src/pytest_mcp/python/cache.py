"""A cache of answers that is valid as long as the files they depend on are unchanged.

A cached answer costs a `stat` of its files. Concurrent calls with one key wait for one search.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import anyio

Answer = TypeVar("Answer")
# Resolved path, modification time, size and inode; None if there is no such file.
Stamp = tuple[str, int, int, int] | None


@dataclass(frozen=True)
class Finding(Generic[Answer]):
    """An answer, and the stamps of its files from before the search; None if it must not be cached."""

    answer: Answer
    stamps: Mapping[Path, Stamp] | None


@dataclass
class _Search(Generic[Answer]):
    """A search in progress. It ends without a finding if the call that began it was cancelled."""

    over: "anyio.Event"
    finding: Finding[Answer] | None = None


class Cache(Generic[Answer]):
    def __init__(self) -> None:
        self._kept: dict[Hashable, Finding[Answer]] = {}
        self._searches: dict[Hashable, _Search[Answer]] = {}

    async def get(self, key: Hashable, find: Callable[[], Awaitable[Finding[Answer]]]) -> Answer:
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
        # A command finds its interpreter before it loads the event loop.
        import anyio  # noqa: PLC0415

        search = self._searches[key] = _Search[Answer](anyio.Event())
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
        facts = real.stat()
    except (OSError, RuntimeError, ValueError):
        return None
    return str(real), facts.st_mtime_ns, facts.st_size, facts.st_ino
