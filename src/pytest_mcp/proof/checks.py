"""What one function checks, and what keeps a check from being made or from counting.

Local names are replaced by what was assigned to them, so that `x = f(); assert x == 1` is `f() == 1`, however it is
written. A name that is assigned in a branch keeps its name.
"""

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_mcp.proof.claims import calls_in, claims_of, is_asserting, is_empty, keywords_of, last_name, one_line, truth
from pytest_mcp.proof.reach import RAISING, Reach, after, fails, guarded, is_broad

# Characters of an expression that takes the place of its name.
_MOST_INLINED = 400


@dataclass(frozen=True, eq=False)
class Check:
    """`claim` is what must hold, as it is written; `inlined` with local names replaced."""

    line: int
    written: str
    claim: ast.expr
    inlined: ast.expr
    reach: Reach
    # Both sides are one value, or the one is assigned from the other.
    is_same: bool = False
    # The statements under `raises`.
    under: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        return " ".join([_sided(self.claim), *self.under])

    @cached_property
    def key(self) -> str:
        return " ".join([_sided(self.inlined), *self.under])

    @property
    def is_raising(self) -> bool:
        return isinstance(self.claim, ast.Call) and last_name(self.claim) in RAISING

    @property
    def is_constant(self) -> bool:
        return truth(self.claim) is True or self.is_same


def _sided(claim: ast.expr) -> str:
    if isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.Eq | ast.Is):
        left, right = sorted([ast.unparse(claim.left), ast.unparse(claim.comparators[0])])
        return f"{left} == {right}"
    return ast.unparse(claim)


@dataclass(frozen=True)
class _Binding:
    value: ast.expr
    # As it is written; empty if it is written out.
    written: str
    number: int
    # Where its assignment ends.
    line: int


class Replaced(ast.NodeTransformer):
    """Some nodes replaced by others; the tree that is given stays as it is. Inside f-strings nothing is replaced."""

    def __init__(self, replacement: Callable[[ast.AST], ast.expr | None]) -> None:
        self._replacement = replacement

    def visit(self, node: ast.AST) -> ast.AST:
        if (found := self._replacement(node)) is not None:
            return found
        if isinstance(node, ast.JoinedStr):
            return node
        copied = type(node)(**dict(ast.iter_fields(node)))
        for name, value in ast.iter_fields(copied):
            if isinstance(value, ast.AST):
                setattr(copied, name, self.visit(value))
            elif isinstance(value, list):
                setattr(copied, name, [self.visit(each) if isinstance(each, ast.AST) else each for each in value])
        return copied

    @staticmethod
    def expression(node: ast.expr, replacement: Callable[[ast.AST], ast.expr | None]) -> ast.expr:
        replaced = Replaced(replacement).visit(node)
        assert isinstance(replaced, ast.expr)
        return replaced


def with_values(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    return Replaced.expression(node, lambda each: values.get(each.id) if isinstance(each, ast.Name) else None)


def checks_of(function: ast.AST, helpers: frozenset[str] = frozenset()) -> list[Check]:
    """`helpers` are names of functions that are known to check something."""
    walk = _Walk(function, helpers)
    walk.block(getattr(function, "body", []), Reach())
    return walk.checks


@dataclass
class _Walk:
    function: ast.AST
    helpers: frozenset[str]
    checks: list[Check] = field(default_factory=list)
    known: dict[str, _Binding] = field(default_factory=dict)
    count: int = 0

    @cached_property
    def loads(self) -> Counter[str]:
        nodes = ast.walk(self.function)
        return Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))

    @cached_property
    def reads(self) -> Mapping[str, Sequence[int]]:
        lines: dict[str, list[int]] = {}
        for node in ast.walk(self.function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                lines.setdefault(node.id, []).append(node.lineno)
        return lines

    def block(self, statements: Sequence[ast.stmt], reach: Reach) -> None:
        for statement in statements:
            self.statement(statement, reach)
            reach = after(statement, reach)

    def statement(self, node: ast.stmt, reach: Reach) -> None:
        match node:
            case ast.Assert():
                self.claims(node.test, node, reach)
            case ast.If() | ast.While():
                self.branches(node, reach)
            case ast.For() | ast.AsyncFor():
                self.loop(node, reach)
            case ast.Try() | ast.TryStar():
                self.attempt(node, reach)
            case ast.With() | ast.AsyncWith():
                self.context(node, reach)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                unused = not self.loads[node.name] and not node.decorator_list
                self.inner(node.body, replace(reach, never=reach.never or f"{node.name}() is never called" * unused))
            case ast.ClassDef():
                self.inner(node.body, reach)
            case ast.Match():
                for case in node.cases:
                    self.inner(case.body, guarded(reach, f"case {ast.unparse(case.pattern)}"))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assign(node, reach)
            case ast.Expr() | ast.Return() if node.value is not None:
                self.expression(node.value, node, reach)

    def inner(self, statements: Sequence[ast.stmt], reach: Reach) -> None:
        """A block that may or may not be run: what it assigns is not known afterwards."""
        self.forget(statements)
        before = dict(self.known)
        self.block(statements, reach)
        self.known = before

    def forget(self, nodes: Sequence[ast.AST]) -> None:
        stored = [each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)]
        for name in stored:
            if isinstance(name.ctx, ast.Store | ast.Del):
                self.known.pop(name.id, None)

    def branches(self, node: ast.If | ast.While, reach: Reach) -> None:
        known, condition = truth(node.test), ast.unparse(node.test)
        dead = f"under `{'while' if isinstance(node, ast.While) else 'if'} {condition}`"
        if known is True:
            self.block(node.body, reach)
        else:
            self.inner(
                node.body, replace(reach, never=reach.never or dead) if known is False else guarded(reach, condition)
            )
        otherwise = replace(reach, never=reach.never or dead) if known is True else reach
        unknown = known is None and isinstance(node, ast.If)
        self.inner(node.orelse, guarded(otherwise, f"not ({condition})") if unknown else otherwise)
        self.forget([*node.body, *node.orelse])

    def loop(self, node: ast.For | ast.AsyncFor, reach: Reach) -> None:
        source = self.inline(node.iter)
        if is_empty(source):
            reach = replace(reach, never=reach.never or f"the loop over `{ast.unparse(node.iter)}` is empty")
        self.forget([node])
        self.inner(node.body, replace(reach, loops=(*reach.loops, (ast.unparse(node.target), source))))
        self.inner(node.orelse, reach)

    def attempt(self, node: ast.Try | ast.TryStar, reach: Reach) -> None:
        catching = next((each for each in node.handlers if is_broad(each.type) and not fails(each.body)), None)
        silent = any(isinstance(each, ast.Return | ast.Break) for part in node.finalbody for each in ast.walk(part))
        inside = reach
        if catching is not None or silent:
            what = (
                "return in finally"
                if catching is None
                else f"except {one_line(catching.type) if catching.type else ''}"
            )
            inside = replace(reach, swallowed=reach.swallowed or what.strip())
        self.block(node.body, inside)
        for handler in node.handlers:
            self.inner(handler.body, guarded(reach, f"except {one_line(handler.type) if handler.type else ''}".strip()))
        self.block([*node.orelse, *node.finalbody], reach)

    def context(self, node: ast.With | ast.AsyncWith, reach: Reach) -> None:
        for item in node.items:
            call = self.inline(item.context_expr) if isinstance(item.context_expr, ast.Name) else item.context_expr
            if item.optional_vars is not None:
                self.forget([item.optional_vars])
            if not isinstance(call, ast.Call):
                continue
            if last_name(call) in RAISING:
                self.add(call, node, reach, under=tuple(ast.unparse(each) for each in node.body))
            elif is_asserting(call):
                self.add(call, node, reach)
            if last_name(call) in RAISING | {"suppress"} and any(is_broad(each) for each in call.args):
                reach = replace(reach, swallowed=reach.swallowed or one_line(call))
        self.block(node.body, reach)

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, reach: Reach) -> None:
        if node.value is None:
            return
        self.expression(node.value, node, reach)
        value = self.inline(node.value)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        alias = self.known.get(node.value.id) if isinstance(node.value, ast.Name) else None
        self.forget(targets)
        self.count += 1
        (target, *others) = targets
        is_plain = isinstance(target, ast.Name) and not others and not isinstance(node, ast.AugAssign)
        if is_plain and isinstance(target, ast.Name) and len(ast.unparse(value)) <= _MOST_INLINED:
            number = alias.number if alias else self.count
            written = ast.unparse(node.value) if calls_something(node.value) else ""
            self.known[target.id] = _Binding(value, written, number, node.end_lineno or node.lineno)

    def expression(self, value: ast.expr, node: ast.stmt, reach: Reach) -> None:
        for call in calls_in(value):
            name = last_name(call)
            if name in RAISING and len(call.args) > 1 and "Regex" not in name:
                given = ast.Call(call.func, call.args[:1], [each for each in call.keywords if each.arg == "match"])
                under = ast.Call(call.args[1], call.args[2:], [each for each in call.keywords if each.arg != "match"])
                self.add(given, node, reach, under=(ast.unparse(under),))
            elif is_asserting(call):
                self.claims(call, node, reach)
            elif name in self.helpers:
                self.add(call, node, reach)

    def claims(self, asserted: ast.expr, node: ast.stmt, reach: Reach) -> None:
        for claim in claims_of(asserted):
            self.add(claim, node, reach)

    def add(self, claim: ast.expr, node: ast.stmt, reach: Reach, under: tuple[str, ...] = ()) -> None:
        written = f"with {one_line(claim)}" if isinstance(node, ast.With | ast.AsyncWith) else one_line(node)
        same = self.is_same(claim)
        self.checks.append(Check(node.lineno, written, claim, self.inline(claim), reach, same, under))

    def inline(self, node: ast.expr) -> ast.expr:
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & set(self.known)
        return with_values(node, {name: self.known[name].value for name in used}) if used else node

    def is_same(self, claim: ast.expr) -> bool:
        if not isinstance(claim, ast.Compare) or isinstance(claim.ops[0], ast.NotEq | ast.IsNot | ast.NotIn):
            return False
        sides = [claim.left, claim.comparators[0]]
        texts = [ast.unparse(each) for each in sides]
        numbers = [
            self.known[each.id].number if isinstance(each, ast.Name) and each.id in self.known else -1 for each in sides
        ]
        written = [self.known[each].written for each in texts if each in self.known]
        if texts[0] == texts[1] or any(each in texts for each in written) or (numbers[0] == numbers[1] != -1):
            return True
        return (
            any(self.is_fresh(each, claim.left.lineno) for each in sides)
            and len({ast.unparse(self.inline(each)) for each in sides}) == 1
        )

    def is_fresh(self, side: ast.expr, line: int) -> bool:
        """A name that nothing has read since it was assigned: nothing can have changed its value."""
        if not isinstance(side, ast.Name) or side.id not in self.known:
            return False
        binding = self.known[side.id]
        return not calls_something(binding.value) and not any(
            binding.line < each < line for each in self.reads.get(side.id, ())
        )


def calls_something(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call | ast.Await) for each in ast.walk(node))


def match_of(check: Check) -> str | None:
    """The pattern of `raises`, as it is written."""
    call = check.claim
    if not isinstance(call, ast.Call):
        return None
    if "Regex" in last_name(call) and len(call.args) > 1:
        return ast.unparse(call.args[1])
    given = keywords_of(call).get("match")
    return None if given is None or ast.unparse(given) == "None" else ast.unparse(given)
