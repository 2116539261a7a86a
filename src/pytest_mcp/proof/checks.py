"""What one function checks, and what keeps a check from being made or from counting.

Assertions of every library have one form, a claim: an expression that must be true. `assertEqual(a, b)` is `a == b`,
`assert_allclose(a, b, rtol=1)` is `a == approx(b, rtol=1)`, and `not a == b` is `a != b`. What cannot be translated
stays the call that it is. Local names that are assigned once are replaced by what was assigned to them, so that
`x = f(); assert x == 1` is `f() == 1`, however it is written.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

RAISING = {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "deprecated_call"}
# What a call that nobody knows must be named to count as an assertion.
_ASSERTING = re.compile(r"_*(?:assert|check|verify|expect|validate|ensure|compare)(?![a-z])|_*assert[A-Z]")
_EQUAL = re.compile(r"assert_?(?!.*[Nn]ot)\w*?(?:[Ee]qual|[Cc]lose|identical|same)\w*")
_CLOSE = ("close", "almost")
# What does not tell a comparison what to overlook.
_WORDS_ONLY = {"msg", "err_msg", "verbose", "obj"}
_FORMS = """assertTrue A; assert_ A; assertFalse not A; assertIsNone A is None; assertIsNotNone A is not None;
assertIs A is B; assertIsNot A is not B; assertIn A in B; assertNotIn A not in B; assertNotEqual A != B;
assertGreater A > B; assertLess A < B; assertGreaterEqual A >= B; assertLessEqual A <= B;
assertIsInstance isinstance(A, B); assertRegex search(B, A); assertCountEqual sorted(A) == sorted(B)"""
_TRANSLATED = {name: form for name, _, form in (each.strip().partition(" ") for each in _FORMS.split(";"))}
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
_OPPOSITE = {**_OPPOSITE, **{b: a for a, b in _OPPOSITE.items()}}
_MOST_SHOWN = 160
_COMMON = {*dir(builtins), "self", "cls", "pytest", "np", "pd"}


def one_line(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def last_name(node: ast.AST | None) -> str:
    """`raises` of `pytest.raises`, also of a call of it."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """What is called and looked at; nothing that every test has."""
    found = {last_name(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}
    return found - _COMMON


def words_in(node: ast.AST) -> set[str]:
    """With what is written out."""
    return names_in(node) | {repr(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)}


def keywords_of(call: ast.Call) -> dict[str, ast.expr]:
    return {each.arg: each.value for each in call.keywords if each.arg}


def asserts(call: ast.Call) -> bool:
    return bool(_ASSERTING.match(last_name(call))) or (last_name(call) == "fail" and not call.args[2:])


def claims_of(node: ast.expr) -> list[ast.expr]:
    """What an asserted expression or call says, conjunctions apart."""
    match node:
        case ast.Call():
            form = _translated(node)
            return [node] if form is node else claims_of(form)
        case ast.UnaryOp(ast.Not(), ast.Call() as call) if (form := _translated(call)) is not call:
            return claims_of(ast.UnaryOp(ast.Not(), form))
        case ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), inner)):
            return claims_of(inner)
        case ast.UnaryOp(ast.Not(), ast.Compare(left, [op], others)) if type(op) in _OPPOSITE:
            return [ast.Compare(left, [_OPPOSITE[type(op)]()], others)]
        case ast.BoolOp(ast.And(), values):
            return [claim for value in values for claim in claims_of(value)]
        case ast.Compare(left, ops, others) if len(ops) > 1:
            sides = [left, *others]
            return [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, ops, sides[1:], strict=False)]
        case ast.Compare(left, [ast.Is() | ast.Eq()], [ast.Constant(True)]) if isinstance(left, ast.Compare):
            return claims_of(left)
    return [node]


def _translated(call: ast.Call) -> ast.expr:
    name, given = last_name(call), call.args
    form = "A == B" if _EQUAL.fullmatch(name) else _TRANSLATED.get(name, "")
    values = dict(zip("AB", given, strict=False))
    if not form or len(values) < 1 + ("B" in form):
        return call
    options = [each for each in call.keywords if each.arg not in _WORDS_ONLY]
    is_close = any(word in name.lower() for word in _CLOSE)
    if form == "A == B" and (options or is_close):
        values["B"] = ast.Call(ast.Name("approx" if is_close else "alike"), given[1:], options)
    return filled(ast.parse(form, mode="eval").body, values)


class _Replaced(ast.NodeTransformer):
    """Inside f-strings nothing is replaced."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._values.get(node.id, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    replaced = _Replaced(values).visit(deepcopy(node))
    assert isinstance(replaced, ast.expr)
    return replaced


def truth(node: ast.expr) -> bool | None:
    """Whether it is true or false whatever the program does; None: that depends."""
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            known = truth(operand)
            return None if known is None else not known
        case ast.BoolOp(op, values):
            parts, deciding = [truth(value) for value in values], isinstance(op, ast.Or)
            return deciding if deciding in parts else None if None in parts else not deciding
        case ast.IfExp(test, body, orelse) if (known := truth(test)) is not None:
            return truth(body if known else orelse)
        case ast.Lambda() | ast.GeneratorExp() | ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_]):
            return True
        case ast.Call() if ast.unparse(node) in ("dict()", "list()", "set()", "tuple()", "range(0)"):
            return False
    try:
        return bool(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Outermost first; what a lambda would call is not called here."""
    if isinstance(node, ast.Call):
        yield node
    for child in () if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node):
        yield from calls_in(child)


# --- checks --------------------------------------------------------------------------------------

# Handlers of these catch a failing assertion.
BROAD = {"AssertionError", "Exception", "BaseException", "Failed"}
# Characters of an expression that takes the place of its name.
_MOST_INLINED = 400
_SKIP = re.compile(r"(?:pytest\.|self\.|unittest\.)?(?:skip|xfail|skipTest|exit|importorskip)")
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Conditions:
    """What stands between the start of a function and a statement: why it does not count, and conditions."""

    dead: str = ""
    guards: tuple[str, ...] = ()

    def through(self, dead: str, condition: str = "") -> "Conditions":
        return Conditions(self.dead or dead, (*self.guards, condition) if condition else self.guards)


@dataclass(frozen=True, eq=False)
class CheckInTest:
    """`claim` is what must hold. `under` are the statements under `raises`."""

    line: int
    written: str
    claim: ast.expr
    reach: Conditions
    is_same: bool = False
    under: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        sides = ast.unparse(self.claim)
        if isinstance(self.claim, ast.Compare) and isinstance(self.claim.ops[0], ast.Eq | ast.Is):
            sides = " == ".join(sorted(map(ast.unparse, [self.claim.left, *self.claim.comparators])))
        return " ".join([sides, *self.under])

    @cached_property
    def names(self) -> set[str]:
        return names_in(self.claim).union(*(names_in(ast.parse(each)) for each in self.under)) - RAISING

    @property
    def is_raising(self) -> bool:
        return isinstance(self.claim, ast.Call) and last_name(self.claim) in RAISING

    @property
    def is_constant(self) -> bool:
        return truth(self.claim) is True or self.is_same

    @property
    def is_real(self) -> bool:
        return not self.is_constant and not self.reach.dead


class CheckWalk:
    """`helpers` are names of functions that are known to check something."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module, helpers: frozenset[str]) -> None:
        names = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
        self._loaded = {each.id for each in names if isinstance(each.ctx, ast.Load)}
        self._helpers, self._known = helpers, dict[str, ast.expr]()
        self.checks: list[CheckInTest] = []
        # Line, text and whether nothing decides it.
        self.skips: list[tuple[int, str, bool]] = []
        self._learn(function, Counter(each.id for each in names if isinstance(each.ctx, ast.Store)))
        self._block(function.body, Conditions())

    def _learn(self, function: ast.AST, stored: Counter[str]) -> None:
        found = [parts for each in ast.walk(function) if (parts := _assigned(each))]
        for target, written in sorted(found, key=lambda each: each[0].lineno):
            value = self._inlined(written)
            # What a list holds can change after it was assigned.
            is_fixed = not isinstance(value, ast.List | ast.Dict | ast.Set) and len(ast.unparse(value)) <= _MOST_INLINED
            if is_fixed and isinstance(target, ast.Name) and stored[target.id] == 1:
                self._known[target.id] = value

    def _inlined(self, node: ast.expr) -> ast.expr:
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return filled(node, self._known) if used & self._known.keys() else node

    def _block(self, statements: Sequence[ast.stmt], reach: Conditions) -> None:
        previous: ast.stmt | None = None
        for node in statements:
            self._statement(node, reach, previous)
            for block, dead, condition in self._blocks(node):
                self._block(block, reach.through(dead, condition))
            reach, previous = _after(node, reach), node

    def _statement(self, node: ast.stmt, reach: Conditions, previous: ast.stmt | None) -> None:
        match node:
            case ast.Assert():
                self._add(node.test, node, reach, is_same=_is_same(node.test, previous))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    call = self._inlined(item.context_expr)
                    if isinstance(call, ast.Call) and last_name(call) in RAISING:
                        self._add(call, node, reach, under=tuple(map(ast.unparse, node.body)))
            case ast.Assign() | ast.AnnAssign() | ast.Expr() | ast.Return() if node.value is not None:
                for call in calls_in(node.value):
                    if asserts(call) or last_name(call) in self._helpers | RAISING:
                        self._add(call, node, reach, is_same=_is_same(claims_of(call)[0], previous))
        if _is_skip(node) and not reach.dead:
            certain = not reach.guards and "importorskip" not in one_line(node)
            self.skips.append((node.lineno, one_line(node), certain))

    def _add(
        self, said: ast.expr, node: ast.stmt, reach: Conditions, *, is_same: bool = False, under: tuple[str, ...] = ()
    ) -> None:
        written = f"with {one_line(said)}" if isinstance(node, ast.With | ast.AsyncWith) else one_line(node)
        for claim in claims_of(self._inlined(said)):
            self.checks.append(CheckInTest(node.lineno, written, claim, reach, is_same, under))

    def _blocks(self, node: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], str, str]]:
        """Blocks of a statement, why each does not count, and its condition."""
        match node:
            case ast.If() | ast.While():
                known, text = truth(node.test), one_line(node.test)
                dead, word = "never checked: under", "while" if isinstance(node, ast.While) else "if"
                yield node.body, f"{dead} `{word} {text}`" * (known is False), text * (known is None)
                yield node.orelse, f"{dead} `else` of `{text}`" * (known is True), f"not ({text})" * (known is None)
            case ast.For() | ast.AsyncFor():
                is_empty = truth(node.iter) is False
                yield node.body, f"never checked: nothing in `{one_line(node.iter)}`" * is_empty, ""
                yield node.orelse, "", ""
            case ast.Try() | ast.TryStar():
                yield node.body, _caught(node), ""
                yield from ((each.body, "", f"except {last_name(each.type)}") for each in node.handlers)
                yield from ((each, "", "") for each in (node.orelse, node.finalbody))
            case ast.With() | ast.AsyncWith():
                broad = next((one_line(each) for each in _catching(node) if _is_broad(each)), "")
                yield node.body, f"its failure is caught by `{broad}`" * bool(broad), ""
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                unused = node.name not in self._loaded and not node.decorator_list
                yield node.body, f"never checked: {node.name}() is never called" * unused, ""
            case ast.Match():
                for each in node.cases:
                    guard = f" if {one_line(each.guard)}" if each.guard else ""
                    yield each.body, "", f"match {one_line(node.subject)}: case {one_line(each.pattern)}{guard}"
            case ast.ClassDef():
                yield node.body, "", ""


def _after(node: ast.stmt, reach: Conditions) -> Conditions:
    """How what follows this statement is reached."""
    if why := _end(node):
        return reach.through(f"never checked: after `{why}`")
    if isinstance(node, ast.If) and truth(node.test) is None and any(map(_end, node.body)):
        return reach.through("", f"not ({one_line(node.test)})")
    return reach


def _end(node: ast.stmt) -> str:
    """The statement that nothing of its block follows, if it is one."""
    if isinstance(node, _ENDING) or (_is_skip(node) and "importorskip" not in one_line(node)):
        return one_line(node)
    if (isinstance(node, ast.If) and truth(node.test)) or (isinstance(node, ast.With) and not _catching(node)):
        return next(filter(None, map(_end, node.body)), "")
    return ""


def _is_skip(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return "Skip" in last_name(node.exc)
    call = node.value if isinstance(node, ast.Expr | ast.Return) else None
    return isinstance(call, ast.Call) and bool(_SKIP.fullmatch(ast.unparse(call.func)))


def _catching(node: ast.With | ast.AsyncWith) -> list[ast.Call]:
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return [each for each in calls if last_name(each) in RAISING | {"suppress"}]


def _is_broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Call):
        return any(map(_is_broad, [*node.args, *(each.value for each in node.keywords)]))
    return any(map(_is_broad, node.elts)) if isinstance(node, ast.Tuple) else node is None or last_name(node) in BROAD


def _caught(node: ast.Try | ast.TryStar) -> str:
    """By a handler that neither fails nor looks at what it has caught."""
    for handler in node.handlers:
        inside = [each for part in handler.body for each in ast.walk(part)]
        calls = any(isinstance(each, ast.Call) and asserts(each) for each in inside)
        if _is_broad(handler.type) and not calls and not any(isinstance(e, ast.Raise | ast.Assert) for e in inside):
            return f"its failure is caught by `{one_line(handler).partition(':')[0]}`"
    return ""


def _is_same(claim: ast.expr, previous: ast.stmt | None) -> bool:
    """Both sides are one expression, or the statement before assigns the one to the other."""
    if not isinstance(claim, ast.Compare) or not isinstance(claim.ops[0], ast.Eq | ast.Is | ast.In):
        return False
    sides = {ast.unparse(claim.left), ast.unparse(claim.comparators[0])}
    return len(sides) == 1 or sides == set(map(ast.unparse, _assigned(previous)))


def _assigned(node: ast.AST | None) -> tuple[ast.expr, ast.expr] | tuple[()]:
    """The (first) target of an assignment, and the value."""
    if isinstance(node, ast.Assign):
        return node.targets[0], node.value
    return (node.target, node.value) if isinstance(node, ast.AnnAssign) and node.value is not None else ()
