"""Divides a suite into shards, the same way on every machine, and keeps the tests of one of them.

In come pytest's items and the number of a shard; out come the items of that shard and the facts about the division.
Whole files are assigned, so that tests which share a module's fixtures stay together. The assignment depends on the
names of the files and their numbers of tests alone, not on the order of the items. Standard library only.
"""

from __future__ import annotations

from typing import Any, Mapping


def choose(config: Any, items: list[Any], index: int, count: int) -> dict[str, Any]:
    """Deselect the items of all other shards; return the fields of the record `divided`."""
    counts: dict[str, int] = {}
    for item in items:
        counts[file_of(item)] = counts.get(file_of(item), 0) + 1
    shards = assign(counts, count)
    total = number_of(items)
    others = [item for item in items if shards[file_of(item)] != index]
    if others:
        items[:] = [item for item in items if shards[file_of(item)] == index]
        config.hook.pytest_deselected(items=others)
    return {"tests": number_of(items), "total": total, "files": len(counts), "digest": digest(counts)}


def assign(counts: Mapping[str, int], count: int) -> dict[str, int]:
    """The shard of each file, from 1 to `count`: the largest file first, always to the shard with the fewest tests."""
    import heapq

    loads = [(0, index) for index in range(1, count + 1)]
    shards = {}
    for file in sorted(counts, key=lambda name: (-counts[name], name)):
        tests, index = loads[0]
        shards[file] = index
        heapq.heapreplace(loads, (tests + counts[file], index))
    return shards


def digest(counts: Mapping[str, int]) -> str:
    """Equal for equal suites: shards of different suites do not add up to one."""
    import hashlib

    lines = "".join("%s\t%d\n" % (file, counts[file]) for file in sorted(counts))
    return hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def file_of(item: Any) -> str:
    return str(item.nodeid.partition("::")[0])


def number_of(items: list[Any]) -> int:
    """A test that is collected twice counts once, as in the record `selected`."""
    return len({item.nodeid for item in items})
