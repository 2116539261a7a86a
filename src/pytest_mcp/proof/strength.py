"""How much a check demands, and whether another one in its place demands less."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_mcp.proof.checks import Check, match_of
from pytest_mcp.proof.claims import keywords_of, last_name, truth
from pytest_mcp.proof.reach import BROAD

# From what a check leaves open, least last.
EXACT, NEAR, PART, KIND, SOMETHING, NOTHING = 6, 5, 4, 3, 2, 0
# Functions and methods that forget a part of their argument.
_LOSSY = {
    **dict.fromkeys(("len", "count"), "only the length"),
    **dict.fromkeys(("sorted", "set", "frozenset", "Counter", "sum"), "without the order"),
    **dict.fromkeys(("type", "bool", "any", "all", "id", "hash", "abs", "min", "max"), "only a property"),
    **dict.fromkeys(("round", "int", "floor", "ceil"), "rounded"),
    **dict.fromkeys(
        ("lower", "upper", "casefold", "strip", "lstrip", "rstrip", "split", "replace"), "less of the text"
    ),
    **dict.fromkeys(("keys", "values"), "only keys or values"),
}
_PARTS = {"startswith", "endswith", "search", "match", "fullmatch", "issubset", "issuperset", "intersection", "find"}
_PARTS |= {"isdisjoint", "fnmatch", "findall", "count"}
_KINDS = {"isinstance", "issubclass", "hasattr", "callable"}
# Of a mock, from the most to the least that is demanded.
_MOCK = (
    *("assert_called_once_with", "assert_awaited_once_with", "assert_called_with", "assert_awaited_with"),
    *("assert_has_calls", "assert_any_call", "assert_called_once", "assert_awaited_once"),
    *("assert_called", "assert_awaited"),
)
_PARENTS: Mapping[str, str] = {
    each.__name__: base.__name__
    for each in vars(__import__("builtins")).values()
    if isinstance(each, type) and issubclass(each, BaseException)
    for base in each.__bases__[:1]
}
_ANY_TEXT = re.compile(r"\W*r?['\"](?:\^?\(?\.[*+]\??\)?\$?|)['\"]")


@dataclass(frozen=True)
class Judgement:
    what: str
    is_strong: bool = True


@dataclass(frozen=True)
class Form:
    rank: int
    what: str


def form_of(claim: ast.expr) -> Form:
    if truth(claim) is True:
        return Form(NOTHING, "always true")
    if isinstance(claim, ast.Compare):
        return _compared(claim)
    if isinstance(claim, ast.BoolOp):
        return Form(min(PART, *(form_of(each).rank for each in claim.values)), "one of several is enough")
    if isinstance(claim, ast.UnaryOp) and isinstance(claim.op, ast.Not):
        inner = form_of(claim.operand)
        return Form(SOMETHING, "only not what it was") if inner.rank > SOMETHING else Form(SOMETHING, "only falsy")
    if isinstance(claim, ast.Call):
        return _called(claim)
    return Form(SOMETHING, "only truthy")


def _called(claim: ast.Call) -> Form:
    name = last_name(claim)
    if name in _KINDS:
        return Form(KIND, f"only {name}")
    if name in ("isclose", "allclose"):
        return Form(NEAR, "only near")
    if name in _PARTS or name == "any":
        return Form(PART, f"only {name}")
    if name == "bool":
        return Form(SOMETHING, "only truthy")
    if name in _MOCK:
        return Form(EXACT - _MOCK.index(name) // 2, f"only {name}")
    # A predicate that nobody here knows can demand as much as an equality.
    return Form(EXACT if len(claim.args) > 1 or name.startswith("assert") else SOMETHING, "only truthy")


def _compared(claim: ast.Compare) -> Form:
    left, op, right = claim.left, claim.ops[0], claim.comparators[0]
    if isinstance(op, ast.IsNot | ast.NotEq):
        is_none = isinstance(right, ast.Constant) and right.value is None
        return Form(SOMETHING, "only not None" if is_none else "only not one value")
    if isinstance(op, ast.In | ast.NotIn):
        return Form(
            PART if isinstance(op, ast.In) else SOMETHING, "only in" if isinstance(op, ast.In) else "only not in"
        )
    if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        if any(isinstance(each, ast.Call) and last_name(each) == "abs" for each in (left, right)):
            return Form(NEAR, "only near")
        trivial = last_name(left) == "len" and ast.unparse(right) in ("0", "1")
        return Form(SOMETHING if trivial else PART, "only not empty" if trivial else "only a bound")
    if isinstance(op, ast.Eq) and isinstance(right, ast.Constant) and isinstance(right.value, bool):
        return Form(SOMETHING, "only truthy")
    if any(last_name(each) == "ANY" for each in (left, right)):
        return Form(NOTHING, "equal to anything")
    lossy = next((found for side in (left, right) if (found := _loss(side))), None)
    if lossy:
        return Form(KIND if last_name(left) == "type" else PART, lossy)
    near = any(last_name(each) in ("approx", "isclose") for side in (left, right) for each in ast.walk(side))
    return Form(NEAR, "only near") if near else Form(EXACT, "")


def _loss(side: ast.expr) -> str:
    if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice):
        return "only a slice"
    if isinstance(side, ast.Call):
        return _LOSSY.get(last_name(side), "")
    if isinstance(side, ast.Attribute) and side.attr in ("__class__", "shape", "size", "ndim", "dtype"):
        return f"only {side.attr}"
    return ""


def judged(old: Check, new: Check, parents: Mapping[str, str]) -> Judgement | None:
    """What is weaker in the new check, which stands where the old one stood."""
    for judge in (_neutralized, partial(_raising, parents=parents), _weaker, _looser, _conditional):
        if (found := judge(old, new)) is not None:
            return found
    return None


def _neutralized(old: Check, new: Check) -> Judgement | None:
    if new.reach.never and not old.reach.never:
        return Judgement(f"never checked: {new.reach.never}")
    if new.reach.swallowed and not old.reach.swallowed:
        return Judgement(f"its failure is caught by `{new.reach.swallowed}`")
    if new.is_constant and not old.is_constant:
        return Judgement("always true" if truth(new.claim) else "compared with itself")
    old_key, new_key = old.inlined, new.inlined
    if isinstance(new_key, ast.Compare) and isinstance(old_key, ast.Compare) and new.claim is not new.inlined:
        sides = [{ast.unparse(each.left), ast.unparse(each.comparators[0])} for each in (old_key, new_key)]
        if len(sides[1]) == 1 < len(sides[0]) and isinstance(new_key.ops[0], ast.Eq):
            return Judgement("both sides are computed in the same way", is_strong=old.text == new.text)
    return None


def _conditional(old: Check, new: Check) -> Judgement | None:
    added = [each for each in new.reach.guards if each not in old.reach.guards]
    if not added or len(new.reach.guards) <= len(old.reach.guards):
        return None
    return Judgement(f"checked only if {added[0]}", is_strong=False)


def _raising(old: Check, new: Check, parents: Mapping[str, str]) -> Judgement | None:
    if not (old.is_raising and new.is_raising):
        return None
    before, now = (_exceptions(each) for each in (old, new))
    above = {name for each in before for name in _above(each, parents)}
    above |= set() if BROAD.intersection(before) else BROAD
    broader = [name for name in now if name not in before and name in above]
    if broader:
        return Judgement(f"any {broader[0]} is enough")
    if before and set(before) < set(now):
        return Judgement("more kinds of exceptions are enough")
    return _matching(old, new) or _longer(old, new)


def _exceptions(check: Check) -> list[str]:
    call = check.claim
    given = (
        (call.args or [keywords_of(call).get("expected_exception", ast.Constant(None))])[0]
        if isinstance(call, ast.Call)
        else None
    )
    parts = given.elts if isinstance(given, ast.Tuple) else [given] if given is not None else []
    return [last_name(each) for each in parts if last_name(each)]


def _above(name: str, parents: Mapping[str, str]) -> Iterator[str]:
    seen = {name}
    while (name := parents.get(name) or _PARENTS.get(name, "")) and name not in seen:
        seen.add(name)
        yield name


def _matching(old: Check, new: Check) -> Judgement | None:
    before, now = match_of(old), match_of(new)
    if before is None or now == before or _ANY_TEXT.fullmatch(before):
        return None
    if now is None:
        return Judgement("no message is demanded")
    if _ANY_TEXT.fullmatch(now):
        return Judgement("any message is enough")
    old_text, new_text = (re.sub(r"\W*\.[*+]\W*|[^\w ]", " ", each).split() for each in (before, now))
    is_less = len("".join(new_text)) < len("".join(old_text)) and " ".join(new_text) in " ".join(old_text)
    alternatives = now.count("|") > before.count("|")
    if is_less or alternatives or (set(new_text) < set(old_text)):
        return Judgement("less of the message is demanded")
    return None


def _longer(old: Check, new: Check) -> Judgement | None:
    if not old.under or len(new.under) <= len(old.under) or old.under[-1] not in new.under:
        return None
    return Judgement("more statements under it can raise", is_strong=False)


def subjects(claim: ast.expr) -> set[str]:
    """What is looked at: the parts of the claim that are computed."""
    found = {
        ast.unparse(node)
        for node in ast.walk(claim)
        if isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.Name)
    }
    return {each for each in found if each not in _LOSSY and each not in _KINDS}


def main_subject(claim: ast.expr) -> str:
    """The side that is not written out, or the left one."""
    sides = [claim.left, claim.comparators[0]] if isinstance(claim, ast.Compare) else [claim]
    if isinstance(claim, ast.Call) and claim.args and last_name(claim) in _KINDS | _PARTS:
        sides = [claim.func.value if isinstance(claim.func, ast.Attribute) else claim.args[0]]
    if isinstance(claim, ast.UnaryOp):
        return main_subject(claim.operand)
    computed = [each for each in sides if not _is_literal(each)]
    return ast.unparse((computed or sides)[0])


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(node))


def _weaker(old: Check, new: Check) -> Judgement | None:
    if old.is_raising or new.is_raising:
        return None
    before, now = form_of(old.claim), form_of(new.claim)
    if isinstance(old.claim, ast.Compare) and before.rank > SOMETHING and _is_side(new.claim, old.claim):
        now = Form(SOMETHING, "only truthy")
    if now.rank >= before.rank:
        return _disjoined(old, new)
    related = subjects(new.claim) | subjects(new.inlined)
    wanted = {main_subject(old.claim), main_subject(old.inlined)}
    if not wanted & related and now.rank != NOTHING:
        return None
    is_style = _is_style(old.claim, now) or (now.rank == NEAR and before.rank == EXACT and not _slack(new.claim))
    return Judgement(now.what, is_strong=not is_style)


def _is_side(claim: ast.expr, of: ast.Compare) -> bool:
    return ast.unparse(claim) in (ast.unparse(of.left), ast.unparse(of.comparators[0]))


def _is_style(claim: ast.expr, now: Form) -> bool:
    """`== []` and `not`, `is True` and truth: seldom meant as less."""
    right = ast.unparse(claim.comparators[0]) if isinstance(claim, ast.Compare) else ""
    return now.rank == SOMETHING and right in ("[]", "{}", "''", "()", "0", "0.0", "True", "False", "None", "set()")


def _disjoined(old: Check, new: Check) -> Judgement | None:
    """`isinstance(x, (A, B))` of `isinstance(x, A)`, `x in (1, 2)`, another kind of loss."""
    before, now = form_of(old.claim), form_of(new.claim)
    if (
        now.rank == before.rank < NEAR
        and now.what != before.what
        and main_subject(old.claim) == main_subject(new.claim)
    ):
        return Judgement(f"{now.what}, no longer {before.what.removeprefix('only ')}", is_strong=False)
    a, b = (each.claim.args[1:2] if isinstance(each.claim, ast.Call) else [] for each in (old, new))
    if a and b and isinstance(b[0], ast.Tuple) and last_name(old.claim) == last_name(new.claim) == "isinstance":
        old_names = {ast.unparse(each) for each in (a[0].elts if isinstance(a[0], ast.Tuple) else a)}
        if old_names < {ast.unparse(each) for each in b[0].elts}:
            return Judgement("more types are enough")
    return None


def _looser(old: Check, new: Check) -> Judgement | None:
    before, now = _slack(old.claim), _slack(new.claim)
    for name, value in now.items():
        least = before.get(name, _DEFAULTS.get(name, 0.0))
        if value > least and name in {*before, *_DEFAULTS}:
            return Judgement(f"larger tolerance: {name}")
    if form_of(old.claim).rank == EXACT and isinstance(new.claim, ast.Compare):
        lax = [text for text in _lax(new.claim) if text not in _lax(old.claim)]
        return Judgement(f"compared with {lax[0]}") if lax else None
    return None


_DEFAULTS = {
    "rel": 1e-6,
    "abs": 1e-12,
    "rtol": 1e-7,
    "atol": 0.0,
    "rel_tol": 1e-9,
    "abs_tol": 0.0,
    "places": -7,
    "decimal": -7,
}
_DEFAULTS |= {"delta": 0.0, "bound": 0.0}


def _slack(claim: ast.expr) -> dict[str, float]:
    """Tolerances by their names; of digits the negative number, so that more is looser."""
    found: dict[str, float] = {}
    for call in (each for each in ast.walk(claim) if isinstance(each, ast.Call)):
        name = last_name(call)
        named = {each: value for each, value in keywords_of(call).items() if each in _DEFAULTS}
        if name == "approx" and len(call.args) > 1:
            named.setdefault("rel", call.args[1])
        if name == "round" and len(call.args) > 1:
            named["decimal"] = call.args[1]
        for each, value in named.items():
            if (number := _number(value)) is not None:
                found[each] = -number if each in ("places", "decimal") else number
    if (
        isinstance(claim, ast.Compare)
        and isinstance(claim.ops[0], ast.Lt | ast.LtE)
        and "abs(" in ast.unparse(claim.left)
    ):
        bound = _number(claim.comparators[0])
        found |= {} if bound is None else {"bound": bound}
    return found


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) else None


def _lax(claim: ast.expr) -> list[str]:
    calls = [each for each in ast.walk(claim) if isinstance(each, ast.Call) and last_name(each) in ("alike", "approx")]
    given = [(name, value) for call in calls for name, value in keywords_of(call).items()]
    return [f"{name}=False" for name, value in given if ast.unparse(value) == "False"]


def parents_of(trees: list[ast.Module]) -> dict[str, str]:
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
    return {node.name: last_name(node.bases[0]) for node in classes}
