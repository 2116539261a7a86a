"""What a change did to the tests: the syntax trees of both sides, compared function by function.

Each is compared with itself under its new name or in its new file, and each of its checks with the one that stands in
its place. A check is deleted only if it lives on nowhere: not in another test, a helper that is called now, or as rows
of parameters. A strong weakening is one that needs no second look; the others are remarks.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from pytest_mcp.proof import settings
from pytest_mcp.proof.claims import one_line
from pytest_mcp.proof.edits import TestEdits, Weakening
from pytest_mcp.proof.function_changes import FunctionChange, skips_in
from pytest_mcp.proof.pairing import SIMILAR_BODIES, Moved, likeness, renamed
from pytest_mcp.proof.strength import parents_of
from pytest_mcp.proof.suite import Function, SuiteFile, asserting_helpers, is_test_file, parsed, read

__all__ = ["TestEdits", "Weakening", "compare_tests"]

# Tests of one file that are named each.
MOST_NAMED = 5

Sources = Mapping[str, str | None]


def compare_tests(before: Sources, now: Sources) -> TestEdits:
    """Of the files that differ, tests, settings and source; a file that is missing has no source at that side.

    More files do no harm: a test that moved is found in those that are given.
    """
    return _Comparison(_Side(before), _Side(now)).edits()


class _Side:
    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.trees = {path: tree for path in sources if path.endswith(".py") and (tree := parsed(sources[path]))}

    @cached_property
    def files(self) -> dict[str, SuiteFile]:
        tests = {path: tree for path, tree in self.trees.items() if is_test_file(path)}
        helpers = asserting_helpers(list(tests.values()))
        return {path: read(path, self.sources[path] or "", tree, helpers) for path, tree in tests.items()}

    def deselects(self, marks: frozenset[str]) -> bool:
        """What `-m` of the settings that are given says of a test with these marks."""
        return any(settings.is_deselected(path, source, marks) for path, source in self.sources.items() if source)

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
        self.pairs = same | renamed(gone, [each for key, each in self.new.items() if key not in same])
        self.moved = Moved([(self.old.get(old), self.new[key]) for key, old in self._origins().items()])

    def _fresh(self) -> list[tuple[str, str]]:
        paired = set(self.pairs.values())
        return [key for key in self.new if key not in paired]

    def _origins(self) -> dict[tuple[str, str], tuple[str, str]]:
        by_new = {new: old for old, new in self.pairs.items()}
        return {key: by_new.get(key, ("", "")) for key in self.new}

    def edits(self) -> TestEdits:
        weakened = list(self._all())
        new = [key for key in self._fresh() if self.new[key].is_test]
        edited = [new for old, new in self.pairs.items() if self._is_edited(self.old[old], self.new[new])]
        ordered = sorted(dict.fromkeys(weakened), key=lambda each: (not each.is_strong, each.file, each.line))
        return TestEdits(tuple(ordered), tuple(new), tuple(edited))

    def _is_edited(self, old: Function, new: Function) -> bool:
        return new.is_test and not (old.is_like(new) and old.parameters == new.parameters and old.marks == new.marks)

    def _all(self) -> Iterator[Weakening]:
        yield from settings.lowered(self.before.sources, self.now.sources)
        yield from grouped(list(self._vanished()))
        yield from self._uncollected()
        for old, new in self.pairs.items():
            change = FunctionChange(self.old[old], self.new[new], self.moved, self.parents, self.now.deselects)
            yield from change.weakenings()
        yield from self._fixtures()

    def _vanished(self) -> Iterator[Weakening]:
        """First those whose checks are found word by word, so that no other takes their place."""
        tests = [each for key, each in self.old.items() if each.is_test and key not in self.pairs]
        gone = [each for each in tests if not each.uncollected]
        for old in sorted(gone, key=lambda each: not self.moved.has_keys(each)):
            if not self._has_copy(old) and not self.moved.has_all(old):
                line = old.node.lineno if self.now.sources.get(old.file) is None else 1
                yield Weakening(old.file, line, "test vanished", _named(old), "", not self._is_taken_up(old))

    def _is_taken_up(self, old: Function) -> bool:
        """By a test with a shorter name that has more parameters now."""
        pairs = ((self.old[a], self.new[b]) for a, b in self.pairs.items() if old.last.startswith(self.new[b].last))
        return any(len(new.parameters) > len(before.parameters) for before, new in pairs if new.is_test)

    def _has_copy(self, old: Function) -> bool:
        same = [each for each in self.new.values() if each.is_test and each.last == old.last]
        return any(likeness(old, each) >= SIMILAR_BODIES for each in same)

    def _uncollected(self) -> Iterator[Weakening]:
        for old, new in ((self.old[a], self.new[b]) for a, b in self.pairs.items()):
            if old.is_test and not old.uncollected and (new.uncollected or not new.is_test):
                why = f"not collected: {new.uncollected}" if new.uncollected else "pytest no longer collects it"
                yield Weakening(new.file, new.node.lineno, why, _named(old), _named(new))

    def _fixtures(self) -> Iterator[Weakening]:
        """New ones that skip what is in their scope."""
        for each in (self.new[key] for key in self._fresh() if self.new[key].is_fixture):
            for line, text, certain in skips_in(each.node):
                is_autouse = any("autouse=True" in ast.unparse(one) for one in each.node.decorator_list)
                yield Weakening(each.file, line, "a new fixture skips", "", text, certain and is_autouse)


def grouped(vanished: list[Weakening]) -> list[Weakening]:
    """Many of one file as one."""
    files: dict[str, list[Weakening]] = {}
    for each in vanished:
        files.setdefault(each.file, []).append(each)
    result = []
    for file, found in files.items():
        names = ", ".join(each.before.partition("(")[0] for each in found[:MOST_NAMED])
        more = " …" * (len(found) > MOST_NAMED)
        one = Weakening(file, found[0].line, f"{len(found)} tests vanished", names + more, "")
        result += [one] if len(found) > MOST_NAMED else found
    return result


def _named(function: Function) -> str:
    return f"{function.name}({one_line(function.node.args)})"
