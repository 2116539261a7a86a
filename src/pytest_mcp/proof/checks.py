"""What one function checks, and what keeps a check from being made or from counting.

Local names that are assigned once are replaced by what was assigned to them, so that `x = f(); assert x == 1` is
`f() == 1`, however it is written.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_mcp.proof.claims import RAISING, asserts, calls_in, claims_of, filled, last_name, names_in, one_line, truth

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
        nodes = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
        for node in sorted(nodes, key=lambda each: each.lineno):
            target, value = node.targets[0], self._inlined(node.value)
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
    parts = [previous.targets[0], previous.value] if isinstance(previous, ast.Assign) else []
    return len(sides) == 1 or sides == set(map(ast.unparse, parts))
