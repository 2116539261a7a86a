"""Chooses tests after the collection, when all other plugins have deselected theirs.

In come the job and pytest's items; the items are changed in place: the tests of files that a change cannot reach are
deselected, the others run in the order of the job's files, and of a shard only its share is kept. Files that the job
does not know are kept. The same items and the same job give the same list, in every process. Standard library only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from shards import choose

if TYPE_CHECKING:
    from launcher import Job


class Selection:
    def __init__(self, job: Job) -> None:
        self.prefix = os.path.join(job["root"], "")
        self.files = job["files"]
        self.unreached = frozenset(job["unreached"])
        # How many tests a change cannot reach; None if that was not asked.
        self.left_out: int | None = None
        self.shard = job["shard"]
        # The fields of the record `divided`.
        self.division: dict[str, Any] | None = None

    def apply(self, config: Any, items: list[Any]) -> None:
        if self.files is not None:
            self.left_out = self.keep_reached(config, items)
        if self.shard is not None:
            self.division = choose(config, items, *self.shard)

    def keep_reached(self, config: Any, items: list[Any]) -> int:
        others = [item for item in items if self.file_of(item) in self.unreached]
        if others:
            items[:] = [item for item in items if self.file_of(item) not in self.unreached]
            config.hook.pytest_deselected(items=others)
        ranks = {file: rank for rank, file in enumerate(self.files or ())}
        # Stable: the tests of one file stay as they are, unknown files stay behind the others.
        items.sort(key=lambda item: ranks.get(self.file_of(item), len(ranks)))
        return len({item.nodeid for item in others})

    def file_of(self, item: Any) -> str:
        """Relative to the root; the whole path of a file outside of it."""
        path = str(getattr(item, "path", ""))
        inside = path[len(self.prefix) :] if path.startswith(self.prefix) else path
        return inside.replace(os.sep, "/")
