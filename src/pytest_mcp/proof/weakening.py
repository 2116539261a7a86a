"""What makes tests check less: how much a check demands, and whether another one in its place demands less."""

import ast
import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_mcp.proof.checks import BROAD, CheckInTest, keywords_of, last_name, truth


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
    """Tests by node id. `values` are checks of which only the expected value changed: not judged."""

    __test__ = False

    weakened: tuple[Weakening, ...]
    new: tuple[str, ...]
    edited: tuple[str, ...]
    values: tuple[Weakening, ...] = ()


# What is less, and whether that needs no second look.
Judgement = tuple[str, bool]

# From what a check leaves open, least last.
EXACT, NEAR, PART, KIND, SOMETHING, NOTHING = 6, 5, 4, 3, 2, 0
# Functions and attributes that forget a part of what they are given.
_FORGETTING = {
    "only the length": "len count size",
    "without the order": "sorted set frozenset Counter sum",
    "only a property": "bool any all id hash abs min max shape ndim keys values",
    "only the type": "type __class__ dtype",
    "rounded": "round int floor ceil",
    "less of the text": "lower upper casefold strip lstrip rstrip replace",
}
_LOSSY = {name: less for less, names in _FORGETTING.items() for name in names.split()}
# Also of mocks.
_CALLED = {
    EXACT: "assert_called_once_with assert_awaited_once_with assert_called_with assert_awaited_with assert_has_calls",
    NEAR: "isclose allclose",
    PART: "startswith endswith search match fullmatch issubset any issuperset assert_any_call assert_called_once",
    KIND: "isinstance issubclass hasattr callable assert_called assert_awaited",
    SOMETHING: "bool",
}
_CALLS = {name: rank for rank, names in _CALLED.items() for name in names.split()}
_COMPARED: Mapping[type[ast.cmpop], tuple[int, str]] = {
    **dict.fromkeys((ast.IsNot, ast.NotEq), (SOMETHING, "only not one value")),
    ast.In: (PART, "only in"),
    ast.NotIn: (SOMETHING, "only not in"),
    **dict.fromkeys((ast.Lt, ast.LtE, ast.Gt, ast.GtE), (PART, "only a bound")),
}
# Of tolerances, by their names: what holds if none is given. Digits are counted as negative, so that more is looser.
_SLACK = {"rel": 1e-6, "abs": 1e-12, "rtol": 1e-7, "atol": 0.0, "rel_tol": 1e-9, "abs_tol": 0.0, "delta": 0.0}
_SLACK |= {"places": -7.0, "decimal": -7.0}
_ANY_TEXT = re.compile(r"r?(['\"])(?:\^?\(?\.[*+]\??\)?\$?|)\1")
_EMPTY = {"[]", "{}", "''", "()", "0", "0.0", "True", "False", "None", "set()"}
_PARENTS = {
    each.__name__: each.__bases__[0].__name__
    for each in vars(builtins).values()
    if isinstance(each, type) and issubclass(each, BaseException)
}


def judged(old: CheckInTest, new: CheckInTest, parents: Mapping[str, str]) -> Judgement | None:
    """What is weaker in the new check, which stands where the old one stood."""
    if new.reach.dead and not old.reach.dead:
        return new.reach.dead, True
    if new.is_constant and not old.is_constant:
        return "compared with itself" if new.is_same else "always true", True
    if old.is_raising and new.is_raising:
        found = _broader(old, new, parents) or _matching(old, new) or _longer(old, new)
    else:
        found = _weaker(old, new) or _looser(old.claim, new.claim)
    if found is None and len(new.reach.guards) > len(old.reach.guards):
        return f"checked only if {new.reach.guards[-1]}", False
    return found


def form_of(claim: ast.expr, known: Collection[str] = ()) -> tuple[int, str]:
    """Of what is known to have been compared before nothing is forgotten."""
    match claim:
        case _ if truth(claim) is True:
            return NOTHING, "always true"
        case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
            return _equal(left, right, known)
        case ast.Compare(ops=[op]):
            return _COMPARED[type(op)]
        case ast.BoolOp():
            return min(PART, *(form_of(each)[0] for each in claim.values)), "one of several is enough"
        case ast.UnaryOp(ast.Not()):
            return SOMETHING, "only falsy"
        case ast.Call():
            name = last_name(claim)
            # A predicate that nobody here knows can demand as much as an equality.
            unknown = EXACT if len(claim.args) > 1 or name.startswith("assert") else SOMETHING
            return _CALLS.get(name, unknown), f"only {name}" if name in _CALLS else "only truthy"
    return SOMETHING, "only truthy"


def _equal(left: ast.expr, right: ast.expr, known: Collection[str]) -> tuple[int, str]:
    if isinstance(right, ast.Constant) and isinstance(right.value, bool):
        return SOMETHING, "only truthy"
    for side in (each for each in (left, right) if ast.unparse(each) not in known):
        if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice):
            return PART, "only a slice"
        if isinstance(side, ast.Call | ast.Attribute) and (less := _LOSSY.get(last_name(side))):
            return KIND if less == "only the type" else PART, less
    is_near = any(last_name(each) in ("approx", "isclose") for side in (left, right) for each in ast.walk(side))
    return (NEAR, "only near") if is_near else (EXACT, "")


def subject(claim: ast.expr) -> str:
    """The side that is not written out, or the left one."""
    match claim:
        case ast.Compare(left, _, [right, *_]):
            is_written = not any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(left))
            return ast.unparse(right if is_written else left)
        case ast.UnaryOp(operand=operand):
            return subject(operand)
        case ast.Call(func, [first, *_]) if last_name(claim) in _CALLS:
            return ast.unparse(func.value if isinstance(func, ast.Attribute) else first)
    return ast.unparse(claim)


def is_about(claim: ast.expr, wanted: str) -> bool:
    return any(ast.unparse(each) == wanted for each in ast.walk(claim) if isinstance(each, ast.expr))


def is_other_value(old: CheckInTest, new: CheckInTest) -> bool:
    """Whether both are equalities of the same thing, with another value."""
    exact = all(isinstance(each.claim, ast.Compare) and form_of(each.claim)[0] >= NEAR for each in (old, new))
    return exact and old.key != new.key and subject(old.claim) == subject(new.claim)


def is_implied(lost: CheckInTest, checks: Sequence[CheckInTest]) -> bool:
    """By an equality of all that it is about."""
    exact = [each for each in checks if each.is_real and form_of(each.claim)[0] == EXACT]
    return form_of(lost.claim)[0] < EXACT and any(is_about(lost.claim, subject(each.claim)) for each in exact)


def _weaker(old: CheckInTest, new: CheckInTest) -> Judgement | None:
    claim = old.claim
    sides = [*map(ast.unparse, [claim.left, *claim.comparators])] if isinstance(claim, ast.Compare) else []
    (before, _), (now, what) = form_of(claim, sides), form_of(new.claim, sides)
    if before > SOMETHING and ast.unparse(new.claim) in sides:
        now, what = SOMETHING, "only truthy"
    if new.is_raising != old.is_raising or now >= before:
        return None
    if now != NOTHING and not is_about(new.claim, subject(claim)):
        return None
    # `== []` and `not`, `is True` and truth, `==` and `approx` are seldom meant as less.
    is_style = isinstance(claim, ast.Compare) and ast.unparse(claim.comparators[0]) in _EMPTY and now == SOMETHING
    return what, not is_style and not (now == NEAR and not _slack(new.claim))


def _looser(old: ast.expr, new: ast.expr) -> Judgement | None:
    before = _SLACK | _slack(old)
    looser = next((name for name, value in _slack(new).items() if value > before[name]), None)
    return None if looser is None else (f"larger tolerance: {looser}", True)


def _slack(claim: ast.expr) -> dict[str, float]:
    found: dict[str, float] = {}
    for call in (each for each in ast.walk(claim) if isinstance(each, ast.Call)):
        rel = call.args[1:2] if last_name(call) == "approx" else []
        for name, value in [*(("rel", each) for each in rel), *keywords_of(call).items()]:
            if name in _SLACK and isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                found[name] = -value.value if _SLACK[name] < 0 else value.value
    return found


def _given(check: CheckInTest, place: int, name: str) -> ast.expr | None:
    assert isinstance(check.claim, ast.Call)
    found = keywords_of(check.claim).get(name) or next(iter(check.claim.args[place : place + 1]), None)
    return None if found is None or ast.unparse(found) == "None" else found


def _broader(old: CheckInTest, new: CheckInTest, parents: Mapping[str, str]) -> Judgement | None:
    given = [_given(each, 0, "expected_exception") for each in (old, new)]
    before, now = ([*map(last_name, each.elts if isinstance(each, ast.Tuple) else [each])] for each in given)
    above = set() if BROAD.intersection(before) else BROAD.copy()
    for name in before:
        while (name := parents.get(name) or _PARENTS.get(name, "")) and name not in above:
            above.add(name)
    broader = [each for each in now if each in above and each not in before]
    if broader:
        return f"any {broader[0]} is enough", True
    return ("more kinds of exceptions are enough", True) if any(before) and set(before) < set(now) else None


def _matching(old: CheckInTest, new: CheckInTest) -> Judgement | None:
    before, now = (_given(each, 1 if "Regex" in last_name(each.claim) else 9, "match") for each in (old, new))
    if before is None or _ANY_TEXT.fullmatch(ast.unparse(before)):
        return None
    if now is None or _ANY_TEXT.fullmatch(ast.unparse(now)):
        return "no message is demanded" if now is None else "any message is enough", True
    wanted, left = (re.sub(r"\W*\.[*+]\W*|[^\w ]", " ", ast.unparse(each)).split() for each in (before, now))
    is_less = 0 < len(left) < len(wanted) and " ".join(left) in " ".join(wanted)
    return ("less of the message is demanded", True) if is_less else None


def _longer(old: CheckInTest, new: CheckInTest) -> Judgement | None:
    is_longer = bool(old.under) and len(new.under) > len(old.under) and old.under[-1] in new.under
    return ("more statements under it can raise", False) if is_longer else None
