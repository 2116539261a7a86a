"""Which of the collected tests run, and in which order, when all other plugins have deselected and sorted theirs.

The same items and the same job give the same list in every process. Where only a part of the suite runs, pytest-cov
still says that its threshold is missed, and does not fail the run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, Mapping

import pytest

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# Options of pytest and of pytest-xdist that would end the run early or share the tests out, and what turns them off.
OFF = {"maxfail": 0, "stepwise": False, "dist": "no", "tx": [], "numprocesses": None}


class Selection:
    """Deselects tests of files that a change cannot reach, sorts by the job's files, and keeps the share of a shard.

    Files that the job does not know are kept.
    """

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
            self.left_out = self.keep_reached(config, items, self.files)
        if self.shard is not None:
            self.division = keep_shard(config, items, *self.shard)

    def keep_reached(self, config: Any, items: list[Any], files: list[str]) -> int:
        others = [item for item in items if self.file_of(item) in self.unreached]
        deselect(config, items, others)
        ranks = {file: rank for rank, file in enumerate(files)}
        # Stable: the tests of one file stay as they are, unknown files stay behind the others.
        items.sort(key=lambda item: ranks.get(self.file_of(item), len(ranks)))
        return number_of(others)

    def file_of(self, item: Any) -> str:
        """Relative to the root; the whole path of a file outside of it."""
        path = str(getattr(item, "path", ""))
        inside = path[len(self.prefix) :] if path.startswith(self.prefix) else path
        return inside.replace(os.sep, "/")


def deselect(config: Any, items: list[Any], others: list[Any]) -> None:
    if others:
        gone = set(map(id, others))
        items[:] = [item for item in items if id(item) not in gone]
        config.hook.pytest_deselected(items=others)


def number_of(items: list[Any]) -> int:
    """A test that is collected twice counts once, as in the record `selected`."""
    return len({item.nodeid for item in items})


# --- shards ------------------------------------------------------------------------------------


def keep_shard(config: Any, items: list[Any], index: int, count: int) -> dict[str, Any]:
    """Deselect the items of all other shards; return the fields of the record `divided`.

    Whole files are assigned, so that tests which share a module's fixtures stay together.
    """
    counts: dict[str, int] = {}
    for item in items:
        counts[node_file(item)] = counts.get(node_file(item), 0) + 1
    shards = assign(counts, count)
    total = number_of(items)
    deselect(config, items, [item for item in items if shards[node_file(item)] != index])
    return {"tests": number_of(items), "total": total, "files": len(counts), "digest": digest(counts)}


def node_file(item: Any) -> str:
    return str(item.nodeid.partition("::")[0])


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


# --- exactly these tests -----------------------------------------------------------------------


class ExactOrder:
    """Runs exactly the tests that a job names, in its order, in one process and to the last of them.

    A named test that was not collected is ignored.
    """

    def __init__(self, reporter: Reporter, job: Job) -> None:
        self.relocate = reporter.relocate
        self.ids = job["ids"] or []

    # Before the plugins that act on these options.
    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        turn_off(config)

    # The outermost wrapper: all other plugins have deselected and sorted when it continues.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[pytest.Item]) -> Generator[None, None, None]:
        yield
        named = {self.relocate(item.nodeid): item for item in reversed(items)}
        chosen = [named[node_id] for node_id in dict.fromkeys(self.ids) if node_id in named]
        kept = set(map(id, chosen))
        deselect(config, items, [item for item in items if id(item) not in kept])
        items[:] = chosen


def turn_off(config: Any) -> None:
    for name, value in OFF.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)


# --- pytest-cov's threshold --------------------------------------------------------------------


class LiftedThreshold:
    """Lifts it while pytest-cov compares, so the exit code is still pytest's own; in its summary it is there again."""

    def __init__(self, reporter: Reporter, job: Job) -> None:
        self.reporter = reporter
        self.names_part: bool = job["part"]
        self.is_filtered: bool = job["filtered"]
        self.shard = job["shard"]
        self.targets: list[str] = job["targets"]
        self.limit: Any = None

    # The innermost: pytest-cov compares in a wrapper too, and what xdist's workers deselected is not known before.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
        options = options_of_pytest_cov(session.config) if self.has_part(session.config) else None
        limit = getattr(options, "cov_fail_under", None)
        if options is not None and type(limit) in (int, float):
            self.limit, options.cov_fail_under = limit, 0

    # Before pytest-cov writes its summary.
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.limit is not None:
            options_of_pytest_cov(session.config).cov_fail_under = self.limit

    def has_part(self, config: Any) -> bool:
        """Where a call's expressions or its change left out nothing, the threshold stands."""
        left_out = bool(self.is_filtered and self.reporter.deselected) or bool(self.reporter.selection.left_out)
        if left_out or (self.shard is not None and self.shard[1] > 1):
            return True
        # A member of a monorepo is named by its folder, which is the root of its settings.
        root = os.path.join(str(config.rootpath), "")
        return self.names_part and not any(root.startswith(os.path.join(path, "")) for path in self.targets)


def options_of_pytest_cov(config: Any) -> Any:
    plugin = config.pluginmanager.get_plugin("_cov")
    is_known = type(plugin).__module__.partition(".")[0] == "pytest_cov"
    return getattr(plugin, "options", None) if is_known else None
