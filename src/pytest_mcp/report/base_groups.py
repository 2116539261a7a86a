"""The key `base` of an answer: which failures are new, and which tests were mended, since a git ref."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mcp.api.results import AgainstBase, NamedTests

# How many tests of each group are named with detail auto.
MAX_NAMED = 20


@dataclass(frozen=True)
class BaseGroups:
    """Node ids. None of a group that was not looked for."""

    ref: str
    new: Sequence[str] | None = None
    old: Sequence[str] | None = None
    changed: Sequence[str] | None = None
    mended: Sequence[str] | None = None

    @property
    def largest(self) -> int:
        return max(len(group or ()) for group in (self.new, self.old, self.changed, self.mended))

    def answer(self, most: int) -> AgainstBase:
        """With at most so many ids of each group."""
        groups = {name: getattr(self, name) for name in ("new", "old", "changed", "mended")}
        named = {
            name: None if ids is None else NamedTests(count=len(ids), node_ids=[*ids[:most]])
            for name, ids in groups.items()
        }
        return AgainstBase(ref=self.ref, **named)


def merged_groups(parts: Sequence[BaseGroups]) -> BaseGroups | None:
    """Of the members of a monorepo, or of shards. What one of them lacks is not known of all."""
    if not parts:
        return None

    def joined(name: str) -> list[str] | None:
        groups = [getattr(part, name) for part in parts]
        return None if None in groups else [node_id for group in groups for node_id in group]

    return BaseGroups(parts[0].ref, joined("new"), joined("old"), joined("changed"), joined("mended"))
