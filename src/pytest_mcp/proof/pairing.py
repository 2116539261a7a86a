"""What belongs together before and after a change: functions that were renamed or moved, and checks in them."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import product

from pytest_mcp.proof.checks import Check, Replaced, with_values
from pytest_mcp.proof.claims import last_name
from pytest_mcp.proof.marks import Parameters, rows_of
from pytest_mcp.proof.strength import EXACT, form_of, main_subject, subjects
from pytest_mcp.proof.suite import Function

Id = tuple[str, str]
# How much of two bodies, or of two checks, is the same if the one became the other.
SIMILAR_BODIES, SIMILAR_CHECKS = 0.6, 0.5
# Of the rows of parameters of one test, those that are looked at one by one.
MOST_ROWS = 300


def renamed(gone: Sequence[Function], fresh: Sequence[Function]) -> dict[Id, Id]:
    """The most similar ones first."""
    scores = sorted(
        ((score, old.id, new.id) for old in gone for new in fresh if (score := likeness(old, new)) >= SIMILAR_BODIES),
        reverse=True,
    )
    found: dict[Id, Id] = {}
    taken: set[Id] = set()
    for _, old, new in scores:
        if old not in found and new not in taken:
            found[old] = new
            taken.add(new)
    return found


def likeness(old: Function, new: Function) -> float:
    if old.is_fixture != new.is_fixture:
        return 0
    if old.is_like(new):
        return 2 + (old.last == new.last)
    lines = old.body.splitlines(), new.body.splitlines()
    # A test of the same name is the same test; in another class, unless nearly nothing of it is left.
    bonus = SIMILAR_BODIES if old.name == new.name else 0.4 if old.last == new.last else 0
    if not bonus and min(map(len, lines)) * 3 < max(map(len, lines)):
        return 0
    matcher = SequenceMatcher(None, old.body.split(), new.body.split(), autojunk=False)
    return matcher.ratio() + bonus if matcher.quick_ratio() + bonus >= SIMILAR_BODIES else 0


# Checks that belong together, those that are lost, and those that are new.
Paired = tuple[list[tuple[Check, Check]], list[Check], list[Check]]


def pairs_of_checks(before: Sequence[Check], now: Sequence[Check]) -> Paired:
    """Equal ones, then similar ones, then what stands at the same place; and those that have no other."""
    pairs: list[tuple[Check, Check]] = []
    old, new = list(before), list(now)
    for same in (lambda check: check.text, lambda check: check.key, lambda check: ast.unparse(check.claim)):
        for check in list(old):
            twin = next((each for each in new if same(each) == same(check)), None)
            if twin is not None:
                pairs.append((check, twin))
                old.remove(check)
                new.remove(twin)
    for _, i, j in sorted(_scores(old, new), reverse=True):
        if not any(one is old[i] or other is new[j] for one, other in pairs):
            pairs.append((old[i], new[j]))
    olds, news = {id(one) for one, _ in pairs}, {id(one) for _, one in pairs}
    return pairs, [each for each in old if id(each) not in olds], [each for each in new if id(each) not in news]


def _scores(old: Sequence[Check], new: Sequence[Check]) -> Iterator[tuple[float, int, int]]:
    for i, before in enumerate(old):
        for j, now in enumerate(new):
            score = alike(before, now)
            if score >= SIMILAR_CHECKS or (now.is_constant and not before.is_constant):
                yield score, i, j


def alike(before: Check, now: Check) -> float:
    if before.is_raising != now.is_raising:
        return 0
    if before.is_raising:
        return 0.5 + 0.5 * SequenceMatcher(None, before.text, now.text, autojunk=False).ratio()
    shares = {main_subject(before.claim), main_subject(before.inlined)} & (subjects(now.claim) | subjects(now.inlined))
    texts = (before.text, now.text), (before.key, now.key)
    likeness = max(SequenceMatcher(None, *each, autojunk=False).ratio() for each in texts)
    return likeness + (0.5 if shares else 0)


class Moved:
    """Checks that are new where they stand, to be found again by those that are lost elsewhere."""

    def __init__(self, functions: Sequence[tuple[Function | None, Function]]) -> None:
        self.helpers = {new.last: new for _, new in functions if not new.is_test}
        self.keys: Counter[str] = Counter()
        self.shapes: Counter[str] = Counter()
        self.rows: set[str] = set()
        self.fresh: Counter[str] = Counter()
        for old, new in functions:
            if old is None or not old.is_like(new) or old.parameters != new.parameters:
                self._add(old, new)

    def _add(self, old: Function | None, new: Function) -> None:
        self.fresh[new.file] += old is None
        self.keys += self._instances(new) - (self._instances(old) if old else Counter())
        self.rows |= _rows(new) - (_rows(old) if old else set())
        self.shapes += shapes(new) - (shapes(old) if old else Counter())

    def _instances(self, function: Function) -> Counter[str]:
        """With what functions check that are called here."""
        found = instances(function)
        for check in function.checks:
            if isinstance(check.inlined, ast.Call) and (called := self.helpers.get(last_name(check.inlined))):
                found.update(_with_arguments(called, check.inlined))
        return found

    def is_split(self, file: str, rows: int) -> bool:
        """Whether there are new functions enough for all rows but one."""
        return self.fresh[file] >= rows - 1

    def has_row(self, row: str) -> bool:
        return row in self.rows

    def has_keys(self, old: Function) -> bool:
        return all(self.keys[text] > 0 for check in old.checks for text in _instances(check, old))

    def has_all(self, old: Function) -> bool:
        checks = [each for each in old.checks if not each.reach.never]
        return bool(checks) and not [each for each in checks if not self._found(each, old)]

    def really_lost(self, old: Function, new: Function, lost: Sequence[Check]) -> list[Check]:
        known, plain = frozenset(each.text for each in old.checks), {each.key for each in new.checks}
        inner = set(self._instances(new)) - plain
        real = [each for each in lost if not each.is_constant and not each.reach.never and each.key not in inner]
        return [each for each in real if not self._found(each, old) and not implied(each, new.checks, known)]

    def _found(self, check: Check, function: Function) -> bool:
        """Each is found once: as it is, or with other values in the same place."""
        texts, form = _instances(check, function), shape(check, function)
        is_same = all(self.keys[text] > 0 for text in texts)
        if is_same:
            self.keys.subtract(texts)
        if is_same or self.shapes[form] > 0:
            self.shapes[form] -= 1
            return True
        return False


def _with_arguments(called: Function, call: ast.Call) -> Iterator[str]:
    names = [each.arg for each in called.node.args.args if each.arg not in ("self", "cls")]
    values = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
    for check in called.checks:
        tree = with_values(check.inlined, values)
        yield Check(0, "", tree, tree, check.reach, under=check.under).key


def implied(lost: Check, checks: Sequence[Check], known: frozenset[str]) -> bool:
    """By a new equality of the whole of which it looked at a part; or it asked only that there is something."""
    is_weak, part = form_of(lost.claim).rank < EXACT, main_subject(lost.claim)
    for each in checks:
        if form_of(each.claim).rank < EXACT or each.reach.never or each.is_raising:
            continue
        whole = main_subject(each.claim)
        if each.text not in known and part.startswith((f"{whole}.", f"{whole}[", f"len({whole})")):
            return True
        if is_weak and (part == whole or whole.startswith((f"{part}.", f"{part}["))):
            return True
    return False


def _rows(function: Function) -> set[str]:
    return {row for each in function.parameters for row in each.rows or ()}


def instances(function: Function) -> Counter[str]:
    return Counter(text for check in function.checks for text in _instances(check, function))


def _instances(check: Check, function: Function) -> list[str]:
    """The check for each row of the parameters and loops over literals that it uses."""
    rows = list(_bindings(check, function))
    if not rows:
        return [check.key]
    tree = check.inlined
    texts = [Check(0, "", tree, with_values(tree, values), check.reach, under=check.under).key for values in rows]
    return list(dict.fromkeys(texts))


def _bindings(check: Check, function: Function) -> Iterator[Mapping[str, ast.expr]]:
    used = {each.id for each in ast.walk(check.inlined) if isinstance(each, ast.Name)}
    tables = [(names, rows_of(source, {}) or []) for names, source in check.reach.loops]
    tables += [(each.names, list(each.values)) for each in function.parameters]
    named = [(_split(names), rows) for names, rows in tables if rows and used.intersection(_split(names))]
    if not named:
        return
    for count, chosen in enumerate(product(*(rows for _, rows in named))):
        if count >= MOST_ROWS:
            return
        yield {key: value for (names, _), row in zip(named, chosen, strict=True) for key, value in _bound(names, row)}


def _split(names: str) -> list[str]:
    return [each.strip() for each in names.strip("()").split(",") if each.strip()]


def _bound(names: Sequence[str], row: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    values = row.args if isinstance(row, ast.Call) and last_name(row) == "param" else None
    if values is None:
        values = row.elts if isinstance(row, ast.Tuple | ast.List) and len(names) > 1 else [row]
    if len(values) == len(names):
        yield from zip(names, values, strict=True)


def _is_plain(node: ast.AST) -> bool:
    return not any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(node))


def shape(check: Check, function: Function) -> str:
    """With holes for what is written out or comes from parameters and loops."""
    names = {name for each in function.parameters for name in _split(each.names)}
    names |= {name for target, _ in check.reach.loops for name in _split(target)}

    def hole(node: ast.AST) -> ast.expr | None:
        is_hole = isinstance(node, ast.Constant | ast.JoinedStr) or (isinstance(node, ast.Name) and node.id in names)
        is_hole |= isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set) and _is_plain(node)
        return ast.Name("_") if is_hole else None

    tree = Replaced.expression(check.inlined, hole)
    return Check(0, "", tree, tree, check.reach).key


def shapes(function: Function) -> Counter[str]:
    """As often as there are rows."""
    found: Counter[str] = Counter()
    for check in function.checks:
        found[shape(check, function)] += _row_count(check, function.parameters)
    return found


def _row_count(check: Check, parameters: Sequence[Parameters]) -> int:
    count = 1
    for each in parameters:
        count *= MOST_ROWS if each.rows is None else max(1, len(each.rows))
    for _, source in check.reach.loops:
        rows = rows_of(source, {})
        count *= MOST_ROWS if rows is None else max(1, len(rows))
    return min(count, MOST_ROWS)
