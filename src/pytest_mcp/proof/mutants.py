"""Mutants of changed lines: small edits that a test should notice, most telling first.

A mutant replaces a span of a file's bytes and keeps the number of its lines. What nobody would write a test for is not
mutated: messages, logs, representations, annotations, limits in seconds; nor what was seen to change nothing. An edit
in a span that no test can reach says nothing about tests; which lines ran is decided where they run.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from pytest_mcp.process.job import MutantJob
from pytest_mcp.proof.arid import ARID_KEYWORDS, ASIDE_FOLDERS, TALK, is_abstract, is_arid, is_best_so_far, last_name
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


def mutants_of(file: str, source: bytes, lines: Collection[int]) -> list[Mutant]:
    """Of these lines. None of a file that cannot be parsed here."""
    if not ASIDE_FOLDERS.isdisjoint(file.split("/")[:-1]) or source.startswith(b"\xef\xbb\xbf"):
        return []
    try:
        source.decode("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = _Finder(file, source, frozenset(lines))
    found.visit_body(tree.body, None)
    return found.mutants


def in_order(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Every line once before any line twice."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_line[mutant.file, mutant.line].append(mutant)
    turns = zip_longest(*(sorted(each, key=lambda one: _RANKS[one.kind]) for each in by_line.values()))
    return [mutant for turn in turns for mutant in turn if mutant is not None]


# The most telling first.
_KINDS = (
    *("deleted", "boundary", "number", "comparison", "condition", "returned", "arithmetic", "boolean", "flag"),
    *("logic", "text", "keyword"),
)
_RANKS = {kind: rank for rank, kind in enumerate(_KINDS)}


@dataclass
class _Finder:
    file: str
    source: bytes
    lines: frozenset[int]
    mutants: list[Mutant] = field(default_factory=list)
    statement: ast.stmt | None = None
    check: int = 0

    def __post_init__(self) -> None:
        self.rows = self.source.split(b"\n")
        self.starts = [0]
        for row in self.rows:
            self.starts.append(self.starts[-1] + len(row) + 1)

    # --- statements ----------------------------------------------------------------------------

    def visit_body(self, body: Sequence[ast.stmt], owner: ast.AST | None) -> None:
        for place, statement in enumerate(body):
            following = body[place + 1] if place + 1 < len(body) else None
            if not is_arid(statement, self.rows[statement.lineno - 1]):
                self.statement = statement
                self.check = owner.lineno if isinstance(owner, ast.If) else statement.lineno
                self.visit_statement(statement, following, len(body) == 1, owner)

    def visit_statement(
        self, node: ast.stmt, following: ast.stmt | None, is_alone: bool, owner: ast.AST | None
    ) -> None:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self.visit_definition(node)
            return
        self.delete(node, following, is_alone, owner)
        match node:
            case ast.Return(value=value) if value is not None:
                self.return_nothing(value)
            case ast.If(test=test, body=body) | ast.While(test=test, body=body):
                self.negate(test)
                if is_best_so_far(test, body):
                    self.visit_bodies(node)
                    return
            case ast.Raise():
                # What it says is for people.
                return
        for child in self.expressions(node):
            self.visit(child, node)
        self.visit_bodies(node)

    def visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if not isinstance(node, ast.ClassDef):
            defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
            for default in defaults:
                self.visit(default, node)
        self.visit_body(node.body, node)

    def visit_bodies(self, node: ast.stmt) -> None:
        self.visit_body(getattr(node, "body", ()), node)
        for name in ("orelse", "finalbody"):
            self.visit_body(getattr(node, name, ()), None)
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.visit_body(each.body, node)

    def expressions(self, node: ast.stmt) -> Iterator[ast.expr]:
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.expr):
                    yield each
                elif isinstance(each, ast.withitem):
                    yield each.context_expr

    def delete(self, node: ast.stmt, following: ast.stmt | None, is_alone: bool, owner: ast.AST | None) -> None:
        """Statements for their effect. What is cleaned up just before an exception is hard to see in a test."""
        is_stored = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets
        )
        if not (isinstance(node, _EFFECTS) or is_stored) or (isinstance(following, ast.Raise) and not is_stored):
            return
        if isinstance(node, ast.Raise) and (is_abstract(node) or (is_alone and isinstance(owner, _FUNCTIONS))):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom):
            return
        row = self.rows[node.lineno - 1][: node.col_offset]
        self.add("deleted", node, "pass", b"" if row.strip() else b"if 0: %s")

    def return_nothing(self, value: ast.expr) -> None:
        if not isinstance(value, ast.Constant):
            self.add("returned", value, "None", b"(None if 1 else (%s))")

    def negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
            self.add("condition", test, f"not {self.text_of(test)}")

    # --- expressions ---------------------------------------------------------------------------

    def visit(self, node: ast.AST, parent: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.Call) and last_name(node.func) in TALK:
            return
        if (change := _CHANGES.get(type(node))) is not None:
            change(self, node, parent)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                if child.arg not in ARID_KEYWORDS:
                    self.visit(child.value, node)
            elif isinstance(child, ast.expr | ast.comprehension):
                self.visit(child, node)

    def compare(self, node: ast.Compare, _parent: ast.AST) -> None:
        if len(node.ops) != 1:
            return
        operator = type(node.ops[0])
        swapped = ast.Compare(node.left, [_COMPARISONS[operator]()], node.comparators)
        self.add("boundary" if operator in _BOUNDARIES else "comparison", node, ast.unparse(swapped))

    def arithmetic(self, node: ast.BinOp, parent: ast.AST) -> None:
        if type(node.op) not in _ARITHMETIC or _is_text(node.left) or _is_text(node.right):
            return
        swapped = ast.unparse(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))
        self.add("arithmetic", node, f"({swapped})" if isinstance(parent, ast.expr) else swapped)

    def boolean(self, node: ast.BoolOp, parent: ast.AST) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        swapped = ast.unparse(ast.BoolOp(other, node.values))
        self.add("boolean", node, f"({swapped})" if isinstance(parent, ast.expr) else swapped)

    def negated(self, node: ast.UnaryOp, parent: ast.AST) -> None:
        if isinstance(node.op, ast.Not):
            plain = ast.unparse(node.operand)
            self.add("condition", node, f"({plain})" if isinstance(parent, ast.expr) else plain)

    def choice(self, node: ast.IfExp, _parent: ast.AST) -> None:
        self.negate(node.test)

    def constant(self, node: ast.Constant, parent: ast.AST) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add("flag", node, str(not value))
        elif isinstance(value, int | float):
            self.add("number", node, repr(value + 1))
        elif isinstance(value, str) and value and isinstance(parent, ast.Compare | ast.Subscript | ast.Return):
            self.add("text", node, repr(f"XX{value}"))

    def text_of(self, node: ast.expr) -> str:
        """As an operand of `not`."""
        text = ast.unparse(node)
        return f"({text})" if isinstance(node, ast.IfExp | ast.Lambda | ast.NamedExpr) else text

    # --- spans ---------------------------------------------------------------------------------

    def add(self, kind: str, node: ast.stmt | ast.expr, text: str, around: bytes = b"") -> None:
        """`around` the old code the new one keeps the variables of its function, which a living one needs."""
        if node.lineno not in self.lines or self.statement is None:
            return
        start, end = self.offset(node.lineno, node.col_offset), self.end_of(node)
        lost = "\n" * self.source.count(b"\n", start, end)
        if around:
            written = (around % self.source[start:end]).decode()
        else:
            written = f"({text}{lost})" if lost and isinstance(node, ast.expr) else f"{text}{lost}"
        first, last = _header(self.statement)
        lines_start, lines_end = self.starts[first - 1], self.starts[last] - 1
        old = self.source[lines_start:lines_end]
        new = self.source[lines_start:start] + text.encode() + self.source[end : max(end, lines_end)]
        before, after = (_on_one_line(each) for each in (old, new))
        where = (self.file, node.lineno, first, last, start, end)
        self.mutants.append(Mutant(*where, written, before, after, kind, self.check))

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def end_of(self, node: ast.stmt | ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)


_CHANGES: dict[type[ast.AST], Callable[..., None]] = {
    ast.Compare: _Finder.compare,
    ast.BinOp: _Finder.arithmetic,
    ast.BoolOp: _Finder.boolean,
    ast.UnaryOp: _Finder.negated,
    ast.IfExp: _Finder.choice,
    ast.Constant: _Finder.constant,
}


def _header(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement; of one with a body, those before it."""
    body: Any = getattr(node, "body", None)
    if body:
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, node.end_lineno or node.lineno


def _on_one_line(source: bytes) -> str:
    line = safe_line(" ".join(source.decode("utf-8", "replace").split()))
    return cut_middle(line, MAX_SHOWN, separator=" … ")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
