"""Mutants of changed lines: small edits that a test should notice, most telling first.

A mutant replaces a span of a file's bytes and keeps the number of its lines. What nobody would write a test for is not
mutated: messages, logs, representations, annotations, limits in seconds; nor what was seen to change nothing. An edit
in a span that no test can reach says nothing about tests; which lines ran is decided where they run.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

from pytest_mcp.process.job import MutantJob
from pytest_mcp.proof.arid import ARID_KEYWORDS, ASIDE_FOLDERS, TALK, is_abstract, is_arid, is_best_so_far
from pytest_mcp.proof.checks import last_name
from pytest_mcp.proof.suite import parsed
from pytest_mcp.text import cut_middle, safe_line

# How much of a line is shown.
MAX_SHOWN = 120
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Deleting one of these is a mutant.
_EFFECTS = (ast.Expr, ast.AugAssign, ast.Raise, ast.Delete, ast.Continue)


# The most telling first.
_KINDS = (
    *("deleted", "comparison", "condition", "returned", "boolean", "boundary", "arithmetic", "number", "flag", "text"),
)
# New code that keeps the variables of its function, which a function that lives needs; behind it is the old code.
_KEEPING = {"deleted": b"if 0: %s", "returned": b"(None if 1 else (%s))"}


@dataclass(frozen=True)
class Mutant:
    file: str
    # Where the edit is, and the lines of the statement around it.
    line: int
    first: int
    last: int
    start: int
    end: int
    text: str
    # The statement on one line, with and without it.
    before: str
    after: str
    kind: str
    # The line of the `if` whose body it is in, or of the statement: mutants of one miss the same check.
    check: int

    def applied_to(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def job(self, number: int) -> MutantJob:
        return {
            "number": number,
            "file": self.file,
            "line": self.first,
            "last": self.last,
            "start": self.start,
            "end": self.end,
            "text": self.text,
        }


def mutants_of(file: str, source: str, lines: Collection[int]) -> list[Mutant]:
    """Of these lines. None of a file that cannot be parsed here. Raises RecursionError."""
    tree = parsed(source)
    if tree is None or source.startswith("\ufeff") or not ASIDE_FOLDERS.isdisjoint(file.split("/")[:-1]):
        return []
    text = _Text(file, source.encode())
    places = (place for place in _places(tree.body, None, text.rows) if _is_in(place.statement, lines))
    edits = ((place, edit) for place in places for edit in _edits_of(place))
    return [text.mutant(place, edit) for place, edit in edits if edit.node.lineno in lines]


def in_order(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Every line once before any line twice."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_line[mutant.file, mutant.line].append(mutant)
    turns = zip_longest(*(sorted(each, key=lambda one: _KINDS.index(one.kind)) for each in by_line.values()))
    return [mutant for turn in turns for mutant in turn if mutant is not None]


class _Place(NamedTuple):
    """A statement, the one that it is in the body of, the one behind it, and whether it is alone there."""

    statement: ast.stmt
    owner: ast.AST | None
    following: ast.stmt | None
    is_alone: bool


class _Edit(NamedTuple):
    kind: str
    node: ast.stmt | ast.expr
    text: str


def _places(body: Sequence[ast.stmt], owner: ast.AST | None, rows: Sequence[bytes]) -> Iterator[_Place]:
    for statement, following in zip_longest(body, body[1:]):
        if not is_arid(statement, rows[statement.lineno - 1]):
            yield _Place(statement, owner, following, len(body) == 1)
            yield from _places(getattr(statement, "body", ()), statement, rows)
            for name in ("orelse", "finalbody"):
                yield from _places(getattr(statement, name, ()), None, rows)
            for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield from _places(each.body, statement, rows)


def _edits_of(place: _Place) -> Iterator[_Edit]:
    node = place.statement
    if _is_for_its_effect(place):
        yield _Edit("deleted", node, "pass")
    match node:
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield _Edit("returned", value, "None")
        case ast.If(test=test, body=body) | ast.While(test=test, body=body):
            yield from _negated(test)
            if is_best_so_far(test, body):
                return
        case ast.Raise() | ast.ClassDef():
            # What an exception says is for people.
            return
    for each in _expressions(node):
        yield from _edits_in(each, node)


def _is_for_its_effect(place: _Place) -> bool:
    """What is cleaned up just before an exception is hard to see in a test."""
    node = place.statement
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    if not isinstance(node, _EFFECTS) or isinstance(place.following, ast.Raise):
        return False
    if isinstance(node, ast.Raise):
        return not is_abstract(node) and not (place.is_alone and isinstance(place.owner, _FUNCTIONS))
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom))


def _negated(test: ast.expr) -> Iterator[_Edit]:
    if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
        text = ast.unparse(test)
        is_loose = isinstance(test, ast.IfExp | ast.Lambda | ast.NamedExpr)
        yield _Edit("condition", test, f"not ({text})" if is_loose else f"not {text}")


def _expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Of a function its defaults."""
    if isinstance(node, _FUNCTIONS):
        yield from filter(None, [*node.args.defaults, *node.args.kw_defaults])
        return
    for name, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            inner = each.context_expr if isinstance(each, ast.withitem) else each
            if isinstance(inner, ast.expr) and name != "annotation":
                yield inner


def _edits_in(node: ast.AST, parent: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and last_name(node.func) in TALK):
        return
    if isinstance(node, ast.IfExp):
        yield from _negated(node.test)
    for kind, other in _changed(node, parent):
        text = ast.unparse(other)
        is_inner = isinstance(parent, ast.expr) and kind in ("arithmetic", "boolean", "condition")
        yield _Edit(kind, node, f"({text})" if is_inner else text)  # type: ignore[arg-type]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword) and child.arg not in ARID_KEYWORDS:
            yield from _edits_in(child.value, node)
        elif isinstance(child, ast.expr | ast.comprehension):
            yield from _edits_in(child, node)


def _changed(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare(left, [op], others):
            kind = "boundary" if isinstance(op, _BOUNDARIES) else "comparison"
            yield kind, ast.Compare(left, [_COMPARISONS[type(op)]()], others)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC and not _is_text(left) and not _is_text(right):
            yield "arithmetic", ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.BoolOp(op, values):
            yield "boolean", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition", operand
        case ast.Constant(bool(value)):
            yield "flag", ast.Constant(not value)
        # Of what is passed, and of defaults, one more was seldom another result.
        case ast.Constant(int(value) | float(value)) if not isinstance(parent, ast.Call):
            yield "number", ast.Constant(value + 1)
        case ast.Constant(str(value)) if value and isinstance(parent, ast.Compare | ast.Subscript | ast.Return):
            yield "text", ast.Constant(f"XX{value}")


class _Text:
    """The bytes of a file, and where its lines begin."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source, self.rows = file, source, source.split(b"\n")
        self.starts = [0, *accumulate(len(row) + 1 for row in self.rows)]

    def mutant(self, place: _Place, edit: _Edit) -> Mutant:
        node, statement = edit.node, place.statement
        start, end = self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)
        first, last = _header(statement)
        before, behind = self.source[self.starts[first - 1] : start], self.source[end : self.starts[last] - 1]
        old, new = self.source[start:end], edit.text.encode()
        owner = place.owner if isinstance(place.owner, ast.If) else statement
        return Mutant(
            self.file,
            node.lineno,
            first,
            last,
            start,
            end,
            self.written(edit, start, end),
            _on_one_line(before + old + behind),
            _on_one_line(before + new + behind),
            edit.kind,
            owner.lineno,
        )

    def written(self, edit: _Edit, start: int, end: int) -> str:
        """With as many lines as before."""
        old, is_statement = self.source[start:end], isinstance(edit.node, ast.stmt)
        is_first = not self.rows[edit.node.lineno - 1][: edit.node.col_offset].strip()
        if edit.kind in _KEEPING and (is_first or not is_statement):
            return (_KEEPING[edit.kind] % old).decode()
        lost = "\n" * old.count(b"\n")
        return f"({edit.text}{lost})" if lost and not is_statement else f"{edit.text}{lost}"

    def offset(self, line: int | None, column: int | None) -> int:
        assert line is not None
        assert column is not None
        return self.starts[line - 1] + column


def _header(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement; of one with a body, those before it."""
    body: Any = getattr(node, "body", None)
    if body:
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, node.end_lineno or node.lineno


def _is_in(node: ast.stmt, lines: Collection[int]) -> bool:
    first, last = _header(node)
    return any(line in lines for line in range(first, last + 1))


def _on_one_line(source: bytes) -> str:
    line = safe_line(" ".join(source.decode("utf-8", "replace").split()))
    return cut_middle(line, MAX_SHOWN, separator=" … ")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
