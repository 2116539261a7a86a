"""Chooses tests after the collection, when all other plugins have deselected theirs.

In come the job and pytest's items; the items are changed in place. Standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shards import choose

if TYPE_CHECKING:
    from launcher import Job


class Selection:
    def __init__(self, job: Job) -> None:
        self.shard = job["shard"]
        # The fields of the record `divided`.
        self.division: dict[str, Any] | None = None

    def apply(self, config: Any, items: list[Any]) -> None:
        if self.shard is not None:
            self.division = choose(config, items, *self.shard)
