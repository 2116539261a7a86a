"""Which tests a change does not affect, as recorded runs show.

In come what the imports say that a change can reach, the content of changed files at the base, and what tests executed
when they last ran. Out comes the same reach with tests that need not run: they executed no function that differs now,
neither from the base nor from the code that they were recorded with. A change of a function that ran while a module was
imported counts for every test whose file can import that module; a change of module-level code for every test whose
file can import it, as without recorded runs. What is not known counts as changed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from pytest_mcp.api.reach import Reach
from pytest_mcp.changes import old_contents, tree
from pytest_mcp.changes import reach as imports
from pytest_mcp.changes.differences import Changes
from pytest_mcp.changes.git_commands import CannotTell, NoRepository
from pytest_mcp.changes.imports.graph import Graph
from pytest_mcp.changes.reach import Examined
from pytest_mcp.config.model import Config
from pytest_mcp.execution.background import in_thread
from pytest_mcp.history import fingerprints, maps, project_name
from pytest_mcp.history.executed import ALL, IMPORTS, imported
from pytest_mcp.history.fingerprints import MODULE, Difference, Units
from pytest_mcp.history.maps import Stored, StoredRun, Unit
from pytest_mcp.history.opening import reading
from pytest_mcp.history.store import Unavailable

# Of a commit, in a notice.
_SHORT = 7
# In seconds. Then all tests run that the imports lead to.
LONGEST = 10


@dataclass(frozen=True)
class Now:
    """The project's Python files as they are, and those that changed since the base as they were there."""

    contents: Mapping[str, bytes]
    hashes: Mapping[str, str]
    changed: frozenset[str]
    before: Mapping[str, bytes]


def now(graph: Graph, changed: Iterable[str], before: Mapping[str, bytes]) -> Now:
    found = tree.contents(graph.tree, graph.tree.python)
    contents = {file: content for file, content in found if content is not None}
    hashes = {file: fingerprints.digest(content) for file, content in contents.items()}
    sources = frozenset(file for file in changed if file.endswith(".py"))
    return Now(contents, hashes, sources, before)


async def narrow(examined: Examined, changes: Changes, config: Config) -> Reach:
    """The reach without tests that recorded runs rule out; as it is if there are none, or they cannot be read."""
    if config.history is None or examined.graph is None or (examined.reach.reason and not examined.by_plugin):
        return examined.reach
    try:
        before = await old_contents.read(config, changes.commit, sorted(filter(_is_source, changes.files)))
        stored = await in_thread(partial(_read, config.history.address, project_name.of(config.root)))
    except (Unavailable, CannotTell, NoRepository):
        return examined.reach
    return await in_thread(partial(narrowed_by, examined, changes, before, stored))


def _is_source(file: str) -> bool:
    return file.endswith(".py")


def _read(address: str, project: str) -> Stored:
    with reading(address) as store:
        return maps.read(store, project)


def narrowed_by(examined: Examined, changes: Changes, before: Mapping[str, bytes], stored: Stored) -> Reach:
    assert examined.graph is not None
    reach = examined.reach
    present = now(examined.graph, changes.files, before)
    if examined.by_plugin:
        # Only some recorders see what plugins run between tests.
        if not all(run.whole for run in stored.runs) and _has_hooks(examined, present):
            return reach
        reach = replace(reach, reason=None)
    found = narrowed(reach, examined.graph, present, stored)
    return found if found.recorded is not None else examined.reach


def _has_hooks(examined: Examined, present: Now) -> bool:
    """Settings can name a package of tests, as `testpaths` does, that is no plugin at all."""
    assert examined.graph is not None
    plugins = examined.graph.everywhere.keys() & set(examined.reach.files)
    return any(b"pytest_" in present.contents.get(file, b"pytest_") for file in plugins)


def narrowed(reached: Reach, graph: Graph, present: Now, stored: Stored) -> Reach:
    comparison = _Comparison(graph, present)
    unreached = set(reached.unreached)
    unaffected: dict[str, set[str]] = {}
    rescued: set[str] = set()
    commits: dict[str, None] = {}
    for run in stored.runs:
        verdict = comparison.of_run(run, stored.functions)
        for node_id, (ran, opaque) in run.tests.items():
            file = node_id.partition("::")[0]
            if verdict.selects(file, ran, opaque=opaque):
                # It executed what changed, although no import leads there.
                rescued.update([file] if file in unreached and not ran.isdisjoint(verdict.changed) else [])
            else:
                unaffected.setdefault(file, set()).add(node_id)
                commits[_named(run)] = None
    still = unreached - rescued
    left_out = [node_id for file, names in unaffected.items() if file not in still for node_id in names]
    if not left_out:
        return reached
    return replace(
        reached,
        unreached=tuple(sorted(still)),
        unaffected=tuple(sorted(left_out)),
        recorded=_few(list(commits)),
    )


def _named(run: StoredRun) -> str:
    commit = run.commit[:_SHORT] if run.commit else "an unknown commit"
    return f"{commit} with changes" if run.dirty else commit


def _few(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


@dataclass(frozen=True)
class _Verdict:
    """What changed for the tests of one run: ids of functions, and files in which everything counts as changed."""

    changed: frozenset[int]
    files: frozenset[str]
    # A plugin of pytest is among the files.
    everything: bool

    def selects(self, file: str, ran: frozenset[int], *, opaque: bool) -> bool:
        return opaque or self.everything or file in self.files or not ran.isdisjoint(self.changed)


class _Comparison:
    def __init__(self, graph: Graph, present: Now) -> None:
        self.graph = graph
        self.now = present
        self.units_of = cache(self._units_of)
        self.base_of = cache(self._base_of)
        self.users_of = cache(self._users_of)
        self.closure_of = cache(self._closure_of)

    def of_run(self, run: StoredRun, functions: Mapping[int, Unit]) -> _Verdict:
        outside = {functions[each] for each in run.outside}
        changed: set[Unit] = set()
        wide: set[str] = set()
        for file in self._differing(run):
            for difference in self._differences(file, run):
                changed.update(Unit(file, name) for name in difference.bodies)
                wide.update([file] if difference.at_import else [])
                for user in self.users_of(difference.names):
                    (wide.add(user.file) if user.name == MODULE else changed.add(user))
                wide.update([file] if any(user.name == MODULE for user in self.users_of(difference.names)) else [])
        wide.update(unit.file for unit in changed if unit in outside or Unit(unit.file, ALL) in outside)
        importing = {unit.file for unit in outside if unit.name.startswith(IMPORTS)}
        wide.update(file for file in importing for unit in changed if imported(file, unit) in outside)
        ids = frozenset(key for key, unit in functions.items() if unit in changed)
        files = self.closure_of(frozenset(wide))
        return _Verdict(ids, files, everything=not files.isdisjoint(self.graph.everywhere))

    def _differing(self, run: StoredRun) -> set[str]:
        """Files that are not as they were recorded, or not as they were at the base."""
        known = run.sources
        other = {file for file, source in known.items() if self.now.hashes.get(file) != source.hash}
        return other | (self.now.hashes.keys() - known.keys()) | self.now.changed

    def _differences(self, file: str, run: StoredRun) -> Iterator[Difference]:
        source = run.sources.get(file)
        if source is None or source.hash != self.now.hashes.get(file):
            yield fingerprints.compare(source.units if source and source.hash else None, self.units_of(file))
        if file in self.now.changed:
            yield fingerprints.compare(self.base_of(file), self.units_of(file))

    def _units_of(self, file: str) -> Units | None:
        content = self.now.contents.get(file)
        return None if content is None else fingerprints.units(content)

    def _base_of(self, file: str) -> Units | None:
        content = self.now.before.get(file)
        return None if content is None else fingerprints.units(content)

    def _users_of(self, names: frozenset[str]) -> set[Unit]:
        """The functions that mention one of these names."""
        encoded = [name.encode() for name in names]
        found: set[Unit] = set()
        for file, content in self.now.contents.items():
            if any(name in content for name in encoded) or (names and b"_" in content and _is_computed(content)):
                found.update(Unit(file, name) for name in fingerprints.mentions(content, names))
        return found

    def _closure_of(self, files: frozenset[str]) -> frozenset[str]:
        return frozenset(imports.nearest_first(sorted(files), self.graph))


def _is_computed(content: bytes) -> bool:
    return b"getattr" in content
