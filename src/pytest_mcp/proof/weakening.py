"""What a change did to the tests: the syntax trees of both sides, compared function by function.

Each is compared with itself under its new name or in its new file, and each of its checks with the one that stands in
its place. A check is deleted only if it lives on nowhere: not in another test, a helper that is called now, or as rows
of parameters. A strong weakening is one that needs no second look; the others are remarks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_mcp.proof import settings
from pytest_mcp.proof.claims import one_line
from pytest_mcp.proof.pairing import Moved, pairs_of_checks, renamed
from pytest_mcp.proof.strength import is_python, judged, parents_of
from pytest_mcp.proof.suite import Function, Mark, SuiteFile, asserting_helpers, is_lame, is_test_file, parsed, read

Sources = Mapping[str, str | None]


@dataclass(frozen=True)
class Weakening:
    """`line` is of the file now, or of the base if the file is gone. Strong is what needs no second look."""

    file: str
    line: int
    what: str
    before: str
    after: str
    is_strong: bool = True


@dataclass(frozen=True)
class TestEdits:
    """Tests by file and qualified name. `values` are checks of which only the expected value changed: not judged."""

    __test__ = False

    weakened: tuple[Weakening, ...]
    new: tuple[tuple[str, str], ...]
    edited: tuple[tuple[str, str], ...]
    values: tuple[Weakening, ...] = ()


def compare_tests(before: Sources, now: Sources) -> TestEdits:
    """Of the files that differ, tests, settings and source; a file that is missing has no source at that side.

    More files do no harm: a test that moved is found in those that are given.
    """
    return _Comparison(_Side(before), _Side(now)).edits()


class _Side:
    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.trees = {path: tree for path in sources if is_python(path) and (tree := parsed(sources[path]))}

    @cached_property
    def files(self) -> dict[str, SuiteFile]:
        tests = {path: tree for path, tree in self.trees.items() if is_test_file(path)}
        helpers = asserting_helpers(list(tests.values()))
        return {path: read(path, tree, helpers) for path, tree in tests.items()}

    @cached_property
    def functions(self) -> dict[tuple[str, str], Function]:
        return {each.id: each for file in self.files.values() for each in file.functions}


class _Comparison:
    def __init__(self, before: _Side, now: _Side) -> None:
        self.before, self.now = before, now
        self.parents = parents_of(list(before.trees.values())) | parents_of(list(now.trees.values()))
        unreadable = {path for path, source in now.sources.items() if source is not None and path not in now.trees}
        self.old = {key: each for key, each in before.functions.items() if each.file not in unreadable}
        self.new = dict(now.functions)
        same = {key: key for key in self.old if key in self.new}
        gone = [each for key, each in self.old.items() if key not in same]
        fresh = [each for key, each in self.new.items() if key not in same]
        self.pairs = same | renamed(gone, fresh)
        self.moved = Moved([(self.old.get(old), self.new[key]) for key, old in self._origins().items()])

    def _origins(self) -> dict[tuple[str, str], tuple[str, str]]:
        by_new = {new: old for old, new in self.pairs.items()}
        return {key: by_new.get(key, ("", "")) for key in self.new}

    def edits(self) -> TestEdits:
        weakened = [*self._vanished(), *self._marked(), *self._weakened(), *self._settings()]
        origins = self._origins()
        new = [key for key, each in self.new.items() if each.is_test and not origins[key][1]]
        edited = [new for old, new in self.pairs.items() if self._is_edited(self.old[old], self.new[new])]
        ordered = sorted(dict.fromkeys(weakened), key=lambda each: (not each.is_strong, each.file, each.line))
        return TestEdits(tuple(ordered), tuple(new), tuple(edited))

    def _is_edited(self, old: Function, new: Function) -> bool:
        return new.is_test and (old.text != new.text or old.parameters != new.parameters)

    def _settings(self) -> Iterator[Weakening]:
        for found in settings.lowered(self.before.sources, self.now.sources):
            yield Weakening(found.file, found.line, found.what, found.before, found.after, found.is_strong)

    def _vanished(self) -> Iterator[Weakening]:
        for key, old in self.old.items():
            if not old.is_test or old.uncollected:
                continue
            new = self.new.get(self.pairs.get(key, ("", "")))
            where, line = (new.file, new.node.lineno) if new else (old.file, self._line_of_gone(old))
            if new is None and not self.moved.has_all(old):
                yield Weakening(where, line, "test vanished", _named(old), "")
            elif new is not None and not new.is_test:
                yield Weakening(where, line, "pytest no longer collects it", _named(old), _named(new))
            elif new is not None and new.uncollected:
                yield Weakening(where, line, f"not collected: {new.uncollected}", _named(old), _named(new))

    def _line_of_gone(self, old: Function) -> int:
        return old.node.lineno if self.now.sources.get(old.file) is None else 1

    def _marked(self) -> Iterator[Weakening]:
        for old_key, new_key in self.pairs.items():
            old, new = self.old[old_key], self.new[new_key]
            known = {(each.name, each.is_certain) for each in old.marks} | {(each.name, False) for each in old.marks}
            for mark in new.marks:
                if (mark.name, mark.is_certain) not in known and is_lame(mark):
                    yield self._newly_marked(old, new, mark)

    def _newly_marked(self, old: Function, new: Function, mark: Mark) -> Weakening:
        same = next((each.text for each in old.marks if each.name == mark.name), "")
        return Weakening(
            new.file, mark.line, f"newly marked {mark.name}", same or _named(old), mark.text, mark.is_certain
        )

    def _weakened(self) -> Iterator[Weakening]:
        for old_key, new_key in self.pairs.items():
            old, new = self.old[old_key], self.new[new_key]
            if old.body != new.body:
                yield from self._checks(old, new)

    def _checks(self, old: Function, new: Function) -> Iterator[Weakening]:
        pairs, lost = pairs_of_checks(old.checks, new.checks)
        for before, now in pairs:
            if (found := judged(before, now, self.parents)) is not None:
                yield Weakening(new.file, now.line, found.what, before.written, now.written, found.is_strong)
        for each in self.moved.really_lost(old, new, lost):
            yield Weakening(new.file, new.node.lineno, "check deleted", each.written, "")


def _named(function: Function) -> str:
    return f"{function.name}({one_line(function.node.args)})"
