"""What a change did to the tests: the syntax trees of both sides, compared function by function.

Each is compared with itself under its new name or in its new file, and each of its checks with the one that stands in
its place. A strong weakening is one that needs no second look: nothing that came with the change can stand in for what
is gone. All others are remarks.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from pytest_mcp.proof.checks import CheckInTest, calls_in, last_name, one_line, words_in
from pytest_mcp.proof.collection import lowered
from pytest_mcp.proof.suite import Function, Id, Reader, asserting_helpers, is_fixture, is_test_file, parsed
from pytest_mcp.proof.weakening import TestEdits, Weakening, is_about, is_implied, is_other_value, judged, subject

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
        found = dict.fromkeys([*lowered(self.before, self.now), *self._vanished()])
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
        kept = {each.key for each in new.walk.checks}
        # What is still done, and no longer looked at: a new test elsewhere is no substitute.
        unchecked = _statements(new) - _statements(old)
        for each in lost:
            if each.is_real and not self.elsewhere.takes(each):
                line = min(new.node.lineno + each.line - old.node.lineno, new.node.end_lineno or 0)
                doubted = gained or each.key in kept or is_implied(each, new.walk.checks)
                strong = not doubted and (subject(each.claim) in unchecked or not self.elsewhere.may_have(each))
                yield Weakening(new.file, line, "check deleted", each.written, "", strong)


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


# --- what belongs together ----------------------------------------------------------------------

# How much of two bodies, or of two checks, is the same if the one became the other.
SIMILAR_BODIES, SIMILAR_CHECKS = 0.6, 0.5
# How many names of a check another function must have, that it may be made there now.
_SHARED_NAMES = 1 / 3
_DEFINED = re.compile(
    r"\b(?:def|class)\s+(\w+)|^(?: {4})?(\w+)(?: *=[^=]|: \w)|\bself\.(\w+)(?: *=[^=]|: )", re.MULTILINE
)

_Key = TypeVar("_Key", Id, int)
# Checks that belong together, those that are lost, and those that are new.
Paired = tuple[list[tuple[CheckInTest, CheckInTest]], list[CheckInTest], list[CheckInTest]]


def renamed(gone: Sequence[Function], fresh: Sequence[Function]) -> dict[Id, Id]:
    return _best((_likeness(old, new), old.id, new.id) for old in gone for new in fresh)


def _best(scores: Iterable[tuple[float, _Key, _Key]]) -> dict[_Key, _Key]:
    """Pairs of what belongs together at all, the most similar ones first."""
    found: dict[_Key, _Key] = {}
    for _, old, new in sorted((each for each in scores if each[0]), reverse=True):
        if old not in found and new not in found.values():
            found[old] = new
    return found


def _likeness(old: Function, new: Function) -> float:
    if is_fixture(old.node) != is_fixture(new.node):
        return 0
    if old.body == new.body:
        return 2 + (old.last == new.last)
    # A test of the same name is the same test; in another class, unless nearly nothing of it is left.
    bonus = SIMILAR_BODIES if old.name == new.name else 0.4 if old.last == new.last else 0
    matcher = SequenceMatcher(None, old.body.split(), new.body.split(), autojunk=False)
    if matcher.quick_ratio() + bonus < SIMILAR_BODIES:
        return 0
    likeness = matcher.ratio() + bonus
    return likeness if likeness >= SIMILAR_BODIES else 0


def paired(before: Sequence[CheckInTest], now: Sequence[CheckInTest]) -> Paired:
    """Equal ones, then similar ones."""
    pairs: list[tuple[CheckInTest, CheckInTest]] = []
    old, new = list(before), list(now)
    for check in before:
        twin = next((each for each in new if each.key == check.key), None)
        if twin is not None:
            pairs.append((check, twin))
            old.remove(check)
            new.remove(twin)
    found = _best((_alike(a, b), i, j) for i, a in enumerate(old) for j, b in enumerate(new))
    pairs += [(old[i], new[j]) for i, j in found.items()]
    lost = [each for i, each in enumerate(old) if i not in found]
    return pairs, lost, [each for j, each in enumerate(new) if j not in found.values()]


def _alike(old: CheckInTest, new: CheckInTest) -> float:
    if old.is_raising != new.is_raising:
        return 0
    shares = old.is_raising or is_about(new.claim, subject(old.claim))
    likeness = SequenceMatcher(None, old.key, new.key, autojunk=False).ratio() + 0.5 * shares
    return likeness if likeness >= SIMILAR_CHECKS or (new.is_constant and not old.is_constant) else 0


class Elsewhere:
    """Where a check that is gone may be made now: in functions that are new, or have more checks or rows."""

    def __init__(self, pairs: Iterable[tuple[Function | None, Function]], undefined: set[str]) -> None:
        """`undefined` are names that are defined nowhere now."""
        self._undefined = undefined
        self._keys: Counter[str] = Counter()
        self.grown: list[Function] = []
        # Files of which a test stands in another one now.
        self._split: set[str] = set()
        for old, new in pairs:
            self._split |= {old.file} if old is not None and old.file != new.file else set()
            gained = Counter[str]() if old and old.body == new.body else _keys(new) - (_keys(old) if old else Counter())
            self._keys += gained
            self.grown += [new] if old is None or gained or _rows(new) - _rows(old) else []

    def takes(self, check: CheckInTest) -> bool:
        """As it is, each found once; or with all that is written in it, as it is in rows and loops."""
        self._keys[check.key] -= 1
        words = check.names | words_in(check.claim)
        return self._keys[check.key] >= 0 or (bool(check.names) and any(words <= each.words for each in self.grown))

    def may_have(self, check: CheckInTest) -> bool:
        """Also if what it was about is gone."""
        shared = max((len(check.names & each.words) for each in self.grown), default=-1)
        return bool(check.names & self._undefined) or shared >= len(check.names) * _SHARED_NAMES

    def may_have_test(self, old: Function) -> bool:
        """Others of its file may have gone before, to files that did not change; or what it is about is gone."""
        names = [each.last for each in self.grown if each.is_test]
        has_name = any(each in old.last or old.last in each for each in names)
        return has_name or old.file in self._split or not self._undefined.isdisjoint(re.findall(r"\w+", old.body))


def _rows(function: Function) -> set[str]:
    return {row for each in function.scope.parameters for row in each.rows or ()}


def _keys(function: Function) -> Counter[str]:
    return Counter(each.key for each in function.walk.checks)


def definitions(sources: Mapping[str, str | None]) -> set[str]:
    found = (_DEFINED.findall(text) for path, text in sources.items() if text and path.endswith(".py"))
    return {name for names in found for groups in names for name in groups if name}
