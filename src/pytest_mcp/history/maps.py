"""The tables of what tests execute: written after a run, read to choose tests.

In comes what a run executed, with the fingerprints of its sources; out come, for all tests of a project, the functions
that each one executed when it last ran. What a run executed is prepared in `executed`, what follows from a change is
decided in `affected`. Everything blocks.
"""

import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from pytest_mcp.history import insertion
from pytest_mcp.history.store import Store, Transaction

_FUNCTION = "INSERT INTO functions (project, file, name, code) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_SOURCE = "INSERT INTO sources (project, file, hash, function_ids) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_MAP = "INSERT INTO maps (run_id, commit_id, dirty, whole, source_ids, outside_ids) VALUES (?, ?, ?, ?, ?, ?)"
_EXECUTED = """INSERT INTO executed (test_id, run_id, opaque, function_ids) VALUES (?, ?, ?, ?)
    ON CONFLICT (test_id) DO UPDATE
    SET run_id = excluded.run_id, opaque = excluded.opaque, function_ids = excluded.function_ids"""

# Maps live as long as the runs that they come from.
_WITHOUT_RUN = "DELETE FROM executed WHERE run_id NOT IN (SELECT id FROM runs)"
_WITHOUT_TESTS = "FROM maps WHERE run_id NOT IN (SELECT run_id FROM executed)"
_FUNCTIONS = "SELECT id, file, name, code FROM functions WHERE project = ?"
_SOURCES = "SELECT id, file, hash, function_ids FROM sources WHERE project = ?"
# What maps of a project refer to: sources, then functions.
_USED_SOURCES = "SELECT source_ids FROM maps JOIN runs ON runs.id = maps.run_id WHERE project = ?"
_USED_FUNCTIONS = (
    "SELECT outside_ids FROM maps JOIN runs ON runs.id = maps.run_id WHERE project = ?",
    "SELECT function_ids FROM executed JOIN tests ON tests.id = executed.test_id WHERE project = ?",
    "SELECT function_ids FROM sources WHERE project = ?",
)


class Unit(NamedTuple):
    file: str
    name: str


@dataclass(frozen=True)
class Source:
    """One version of a file: the hash of its content, and the fingerprints of its units."""

    hash: str
    units: Mapping[str, str]


# By file and hash.
KnownSources = Mapping[tuple[str, str], Source]


@dataclass(frozen=True)
class TestMap:
    # It is not a test class for pytest.
    __test__ = False

    units: frozenset[Unit]
    opaque: bool


@dataclass(frozen=True)
class RunMap:
    """What one run executed. `outside` ran at import or otherwise outside of tests."""

    commit: str | None
    dirty: bool
    whole: bool
    sources: Mapping[str, Source]
    outside: frozenset[Unit]
    tests: dict[str, TestMap] = field(default_factory=dict)


def write(store: Store, run_id: int, project: str, found: RunMap) -> None:
    """The sources first, in one transaction; then the tests, which refer to them."""
    with store.transaction() as into:
        functions, sources = _Ids(into, project), {}
        for file, source in found.sources.items():
            sources[file] = _source_id(into, project, file, source, functions)
        ids = insertion.test_ids(into, project, list(found.tests))
        codes = {file: source.units for file, source in found.sources.items()}
        outside = functions.of_units(found.outside, codes)
        values = (found.commit, int(found.dirty), int(found.whole), pack(sources.values()), pack(outside))
        into.execute(_MAP, (run_id, *values))
        into.executemany(
            _EXECUTED,
            [
                (ids[name], run_id, int(test.opaque), pack(functions.of_units(test.units, codes)))
                for name, test in sorted(found.tests.items(), key=lambda pair: ids[pair[0]])
            ],
        )
        into.execute(_WITHOUT_RUN)
        if into.execute(f"SELECT run_id {_WITHOUT_TESTS} LIMIT 1"):
            into.execute(f"DELETE {_WITHOUT_TESTS}")
            _delete_unused(into, project, "sources", [_USED_SOURCES])
            _delete_unused(into, project, "functions", _USED_FUNCTIONS)


def _delete_unused(into: Transaction, project: str, table: str, uses: Iterable[str]) -> None:
    lists = [packed for sql in uses for (packed,) in into.execute(sql, (project,))]
    # Most tests of a file have much in common, and many lists are the same.
    used = {each for packed in set(map(bytes, lists)) for each in unpack(packed)}
    rows = into.execute(f"SELECT id FROM {table} WHERE project = ?", (project,))  # noqa: S608 - names of ours
    unused = [(key,) for (key,) in rows if key not in used]
    into.executemany(f"DELETE FROM {table} WHERE id = ?", unused)  # noqa: S608 - names of ours


class _Ids:
    """The ids of functions, looked up file by file."""

    def __init__(self, into: Transaction, project: str) -> None:
        self.into = into
        self.project = project
        self.files: dict[str, dict[tuple[str, str], int]] = {}

    def of_file(self, file: str, wanted: Iterable[tuple[str, str]]) -> list[int]:
        """Each is a name with its fingerprint; new ones get an id."""
        wanted = list(wanted)
        known = self.files.get(file) or self._known(file)
        missing = [pair for pair in wanted if pair not in known]
        if missing:
            self.into.executemany(_FUNCTION, [(self.project, file, *pair) for pair in missing])
            known = self._known(file)
        return [known[pair] for pair in wanted]

    def of_units(self, units: Iterable[Unit], codes: Mapping[str, Mapping[str, str]]) -> list[int]:
        by_file: dict[str, list[tuple[str, str]]] = {}
        for file, name in units:
            by_file.setdefault(file, []).append((name, codes.get(file, {}).get(name, "")))
        return [each for file, pairs in by_file.items() for each in self.of_file(file, pairs)]

    def _known(self, file: str) -> dict[tuple[str, str], int]:
        sql = "SELECT name, code, id FROM functions WHERE project = ? AND file = ?"
        found = {(name, code): key for name, code, key in self.into.execute(sql, (self.project, file))}
        self.files[file] = found
        return found


def _source_id(into: Transaction, project: str, file: str, source: Source, functions: _Ids) -> int:
    sql = "SELECT id FROM sources WHERE project = ? AND file = ? AND hash = ?"
    key = (project, file, source.hash)
    found = into.execute(sql, key)
    if not found:
        into.execute(_SOURCE, (*key, pack(functions.of_file(file, source.units.items()))))
        found = into.execute(sql, key)
    return int(found[0][0])


@dataclass(frozen=True)
class StoredRun:
    """The last run of some tests: for each the ids of what it executed, and whether it is opaque."""

    commit: str | None
    dirty: bool
    whole: bool
    sources: Mapping[str, Source]
    outside: frozenset[int]
    tests: dict[str, tuple[frozenset[int], bool]] = field(default_factory=dict)


@dataclass(frozen=True)
class Stored:
    functions: Mapping[int, Unit]
    runs: Sequence[StoredRun]


def known_sources(store: Store, project: str) -> KnownSources:
    """The versions of files that need not be parsed again. Those with units that have been deleted are left out."""
    codes = {key: (name, code) for key, _, name, code in store.select(_FUNCTIONS, (project,))}
    found = {}
    for _, file, digest, packed in store.select(_SOURCES, (project,)):
        ids = list(unpack(packed))
        if all(each in codes for each in ids):
            found[file, digest] = Source(digest, dict(codes[each] for each in ids))
    return found


def read(store: Store, project: str) -> Stored:
    """Another process may have deleted what a map refers to. Then less is known, so more tests are selected."""
    rows = store.select(_FUNCTIONS, (project,))
    functions = {key: Unit(file, name) for key, file, name, _ in rows}
    codes = {key: (name, code) for key, _, name, code in rows}
    sources = {}
    for key, file, digest, packed in store.select(_SOURCES, (project,)):
        sources[key] = file, Source(digest, dict(codes[each] for each in unpack(packed) if each in codes))
    runs = {}
    sql = """SELECT maps.run_id, maps.commit_id, maps.dirty, whole, source_ids, outside_ids
        FROM maps JOIN runs ON runs.id = maps.run_id WHERE project = ?"""
    for key, commit, dirty, whole, source_ids, outside in store.select(sql, (project,)):
        files = dict(sources[each] for each in unpack(source_ids) if each in sources)
        runs[key] = StoredRun(commit, bool(dirty), bool(whole), files, frozenset(unpack(outside)) & functions.keys())
    sql = """SELECT executed.run_id, node_id, opaque, function_ids
        FROM executed JOIN tests ON tests.id = executed.test_id WHERE project = ?"""
    for key, node_id, opaque, packed in store.select(sql, (project,)):
        if key in runs:
            ran = frozenset(unpack(packed))
            runs[key].tests[node_id] = ran, bool(opaque) or not ran <= functions.keys()
    return Stored(functions, [run for run in runs.values() if run.tests])


def pack(ids: Iterable[int]) -> bytes:
    """Sorted, as differences of four bytes each, compressed."""
    ordered = sorted(set(ids))
    steps = array("I", (each - before for before, each in zip([0, *ordered], ordered, strict=False)))
    return zlib.compress(_portable(steps).tobytes(), 6)


def unpack(packed: bytes) -> Iterable[int]:
    steps = array("I")
    steps.frombytes(zlib.decompress(packed))
    return accumulate(_portable(steps))


def _portable(steps: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        steps.byteswap()
    return steps
