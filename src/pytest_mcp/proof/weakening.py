"""What a change did to the tests: the syntax trees of both sides, compared function by function.

Each is compared with itself under its new name or in its new file, and each of its checks with the one that stands in
its place. A strong weakening is one that needs no second look: nothing that came with the change can stand in for what
is gone. All others are remarks.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from pytest_mcp.proof import settings
from pytest_mcp.proof.claims import calls_in, last_name, one_line
from pytest_mcp.proof.edits import TestEdits, Weakening
from pytest_mcp.proof.pairing import Elsewhere, definitions, paired, renamed
from pytest_mcp.proof.strength import is_implied, is_other_value, judged, subject
from pytest_mcp.proof.suite import Function, Reader, asserting_helpers, is_test_file, parsed

# Rows of parameters that are named.
MOST_ROWS = 3

Sources = Mapping[str, str | None]


def compare_tests(before: Sources, now: Sources) -> TestEdits:
    """Of the files that differ, tests, settings and source; a file that is missing has no source at that side."""
    return _Comparison(before, now).edits()


def _functions(sources: Sources) -> list[Function]:
    trees = {path: tree for path in sources if is_test_file(path) and (tree := parsed(sources[path]))}
    helpers = asserting_helpers(trees.values())
    return [each for path, tree in trees.items() for each in Reader(path, tree, helpers).functions()]


def _parents(sources: Sources) -> dict[str, str]:
    trees = [tree for path in sources if path.endswith(".py") and (tree := parsed(sources[path]))]
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
    return {node.name: last_name(node.bases[0]) for node in classes}


class _Comparison:
    def __init__(self, before: Sources, now: Sources) -> None:
        self.before, self.now = before, now
        unreadable = {path for path, source in now.items() if source is not None and parsed(source) is None}
        old = {each.id: each for each in _functions(before) if each.file not in unreadable}
        new = {each.id: each for each in _functions(now)}
        same = {key: key for key in old if key in new}
        others = renamed(*([each for key, each in side.items() if key not in same] for side in (old, new)))
        self.pairs = [(old[a], new[b]) for a, b in (same | others).items()]
        self.gone = [each for key, each in old.items() if key not in same | others]
        self.fresh = [each for key, each in new.items() if key not in {*same, *others.values()}]
        changed = [*self.pairs, *((None, each) for each in self.fresh)]
        self.elsewhere = Elsewhere(changed, definitions(before) - definitions(now))
        self.parents = _parents(before) | _parents(now)

    def edits(self) -> TestEdits:
        found = dict.fromkeys([*settings.lowered(self.before, self.now), *self._vanished()])
        values: list[Weakening] = []
        for old, new in self.pairs:
            found |= dict.fromkeys([*self._uncollected(old, new), *_marks(old, new), *self._parameters(old, new)])
            if old.body != new.body:
                skips = _skips(old, new)
                # After a certain one, all else that the function does counts no more.
                is_over = any(each.is_strong for each in skips)
                found |= dict.fromkeys([*skips, *(() if is_over else self._checks(old, new, values))])
        found |= dict.fromkeys(each for fresh in self.fresh for each in _skipping_fixture(fresh))
        ordered = sorted(found, key=lambda each: (not each.is_strong, each.file, each.line))
        edited = [new.node_id for old, new in self.pairs if new.is_test and old.content != new.content]
        new_tests = [each.node_id for each in self.fresh if each.is_test]
        return TestEdits(tuple(ordered), tuple(new_tests), tuple(edited), tuple(values))

    def _vanished(self) -> Iterator[Weakening]:
        bodies = {each.body for _, each in self.pairs}
        for old in self.gone:
            if old.is_test and not old.scope.uncollected and old.body not in bodies:
                checks = [each for each in old.walk.checks if each.is_real]
                lost = [each for each in checks if not self.elsewhere.takes(each)]
                if lost or not checks:
                    line = old.node.lineno if self.now.get(old.file) is None else 1
                    strong = bool(lost) and not any(map(self.elsewhere.may_have, lost))
                    strong = strong and not self.elsewhere.may_have_test(old)
                    yield Weakening(old.file, line, "test vanished", _named(old), "", strong)

    def _uncollected(self, old: Function, new: Function) -> Iterator[Weakening]:
        why = new.scope.uncollected
        if old.is_test and not old.scope.uncollected and (why or not new.is_test):
            what = f"not collected: {why}" if why else "pytest no longer collects it"
            yield Weakening(new.file, new.node.lineno, what, _named(old), _named(new))

    def _parameters(self, old: Function, new: Function) -> Iterator[Weakening]:
        by_name = {each.names: each for each in new.scope.parameters}
        for before in old.scope.parameters:
            now = by_name.get(before.names)
            if now is None or before.rows is None or now.rows is None:
                continue
            gone = [each for each in before.rows if each not in now.rows]
            lame = {each.partition(" # ")[0]: each for each in now.rows if " # " in each}
            for row in (each for each in gone if each in lame):
                yield Weakening(new.file, now.line, "a row is newly skipped", row, lame[row])
            lost = [each for each in gone if each not in lame]
            if len(now.rows) < len(before.rows) and lost:
                what = f"parameters removed: {len(before.rows) - len(now.rows)} of {len(before.rows)}"
                strong = set(now.rows) <= set(before.rows) and not self.elsewhere.grown
                some = "; ".join(lost[:MOST_ROWS]) + " …" * (len(lost) > MOST_ROWS)
                yield Weakening(new.file, now.line, what, some, "", strong)

    def _checks(self, old: Function, new: Function, values: list[Weakening]) -> Iterator[Weakening]:
        pairs, lost, added = paired(old.walk.checks, new.walk.checks)
        for before, now in pairs:
            found = judged(before, now, self.parents)
            if found is not None:
                strong = found[1] and not (added and now.is_real)
                yield Weakening(new.file, now.line, found[0], before.written, now.written, strong)
            elif is_other_value(before, now):
                what = "another value expected"
                values.append(Weakening(new.file, now.line, what, before.written, now.written, False))
        known = {each.key for each in old.walk.checks}
        gained = any(each.is_real and each.key not in known for each in new.walk.checks)
        gained = gained or bool(_called(new) - _called(old)) or new.scope.parameters != old.scope.parameters
        kept = {each.key for each in new.walk.checks} | self._kept_in_class(new)
        # What is still done, and no longer looked at: a new test elsewhere is no substitute.
        unchecked = _statements(new) - _statements(old)
        for each in lost:
            if each.is_real and not self.elsewhere.takes(each):
                line = min(new.node.lineno + each.line - old.node.lineno, new.node.end_lineno or 0)
                doubted = gained or each.key in kept or is_implied(each, new.walk.checks)
                strong = not doubted and (subject(each.claim) in unchecked or not self.elsewhere.may_have(each))
                yield Weakening(new.file, line, "check deleted", each.written, "", strong)

    def _kept_in_class(self, function: Function) -> set[str]:
        """Checks of all of its tests, of what is the same in each."""
        place = function.file, function.name.removesuffix(function.last)
        same = [new for _, new in self.pairs if (new.file, new.name.removesuffix(new.last)) == place]
        return {each.key for other in same for each in other.walk.checks if "self." in each.key}


def _statements(function: Function) -> set[str]:
    return {ast.unparse(node.value) for node in ast.walk(function.node) if isinstance(node, ast.Expr)}


def _called(function: Function) -> set[str]:
    return {*map(last_name, calls_in(function.node))}


def _marks(old: Function, new: Function) -> Iterator[Weakening]:
    known = Counter((each.name, certain) for each in old.scope.marks for certain in {each.is_certain, False})
    for mark in new.scope.marks if new.is_test else ():
        if not known[mark.name, mark.is_certain]:
            before = next((each.text for each in old.scope.marks if each.name == mark.name), old.last)
            yield Weakening(new.file, mark.line, f"newly marked {mark.name}", before, mark.text, mark.is_certain)


def _skips(old: Function, new: Function) -> list[Weakening]:
    what = "skips" if new.is_test else "skips the tests that use it"
    added = [each for each in new.walk.skips if each[1] not in {text for _, text, _ in old.walk.skips}]
    return [Weakening(new.file, line, what, old.last, text, certain) for line, text, certain in added]


def _skipping_fixture(fresh: Function) -> Iterator[Weakening]:
    is_autouse = any("autouse=True" in ast.unparse(each) for each in fresh.node.decorator_list)
    for line, text, certain in fresh.walk.skips if is_autouse else ():
        yield Weakening(fresh.file, line, "a new fixture skips", "", text, certain)


def _named(function: Function) -> str:
    return f"{function.name}({one_line(function.node.args)})"
