"""What a run executed, as it is stored: functions of the files that the project has now.

In come what the child told, the root and the versions of files that are stored already; out comes a `RunMap`. A file
that was written to after the run had begun is not what the tests ran: nothing counts as equal to it. The tables are in
`maps`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pytest_mcp.changes import tree
from pytest_mcp.changes.state import CodeState
from pytest_mcp.changes.tree import Unreadable
from pytest_mcp.events.functions import Executions, Function, Told, executions
from pytest_mcp.history import fingerprints
from pytest_mcp.history.fingerprints import HEADER, MODULE
from pytest_mcp.history.maps import KnownSources, RunMap, Source, TestMap, Unit

# The hash of a file whose content during the run is not known.
UNKNOWN = ""
# The name of a unit that stands for all functions of a file.
ALL = "*"
# Begins the name of a unit that stands for another one, which ran while this file was imported.
IMPORTS = "@"


def of_run(told: Iterable[Told], root: Path, started: float, code: CodeState, known: KnownSources) -> RunMap | None:
    """None if nothing is known of any test."""
    found = executions(told)
    if not found.tests:
        return None
    try:
        sources = dict(_sources(root, started, known))
    except Unreadable:
        return None
    return _mapped(found, sources, code)


def _sources(root: Path, started: float, known: KnownSources) -> Iterable[tuple[str, Source]]:
    project = tree.look(root)
    for file, content in tree.contents(project, project.python):
        if content is None or _is_newer(root / file, started):
            yield file, Source(UNKNOWN, {})
        else:
            digest = fingerprints.digest(content)
            yield file, known.get((file, digest)) or _parsed(content, digest)


def _parsed(content: bytes, digest: str) -> Source:
    units = fingerprints.units(content)
    return Source(UNKNOWN, {}) if units is None else Source(digest, units)


def _is_newer(path: Path, started: float) -> bool:
    try:
        found = path.stat()
    except OSError:
        return True
    return max(found.st_mtime, found.st_ctime) > started


def _mapped(found: Executions, sources: Mapping[str, Source], code: CodeState) -> RunMap:
    @cache
    def unit(function: Function) -> Unit:
        source = sources.get(function.file)
        return Unit(function.file, _name(function.name, source.units if source else {}))

    outside = frozenset(map(unit, found.outside)) | {Unit(file, ALL) for file in found.unseen}
    for file, functions in found.imports.items():
        outside |= {imported(file, each) for each in map(unit, functions) if each.name != MODULE}
    tests = {
        node_id: TestMap(frozenset(map(unit, test.functions)), test.opaque) for node_id, test in found.tests.items()
    }
    return RunMap(code.commit, code.dirty, found.whole, sources, outside, tests)


def imported(file: str, unit: Unit) -> Unit:
    return Unit(file, f"{IMPORTS}{unit.file}:{unit.name}")


def _name(qualified: str, known: Mapping[str, str]) -> str:
    """The function that code belongs to: a lambda, a comprehension or the body of a class is part of the one around."""
    name = qualified
    while name not in known or name.endswith(HEADER):
        name, dot, _ = name.rpartition(".")
        if not dot:
            return MODULE
    return name
