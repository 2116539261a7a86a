"""Small bugs: the text of a module in, every edit of one line that makes such a bug out.

Pure. Which of them a suite catches is decided in `search`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
}
BOOLEAN: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


@dataclass(frozen=True, order=True)
class Edit:
    """`before` and `after` are whole lines; `at_import` says that the line runs when the module is imported."""

    line: int
    operator: str
    before: str
    after: str
    at_import: bool


@dataclass(frozen=True)
class Span:
    """Columns of one line."""

    line: int
    start: int
    end: int


def edits(source: str) -> list[Edit]:
    """In the order of the lines. Lines that are not ASCII are left alone: `ast` counts bytes."""
    tree = ast.parse(source)
    lines = source.splitlines()
    later = lines_in_functions(tree)
    found = {
        Edit(span.line, operator, before, after, span.line not in later)
        for node in ast.walk(tree)
        for operator, span, replacement in changes(node, lines)
        if (before := lines[span.line - 1]).isascii()
        and (after := before[: span.start] + replacement + before[span.end :]) != before
    }
    return sorted(found)


def applied(source: str, edit: Edit) -> str:
    """The source with this one line changed; its line ends stay as they are."""
    lines = source.splitlines(keepends=True)
    line = lines[edit.line - 1]
    if line.rstrip("\r\n") != edit.before:
        raise ValueError(f"line {edit.line} is not {edit.before!r}")
    lines[edit.line - 1] = edit.after + line[len(edit.before) :]
    return "".join(lines)


def lines_in_functions(tree: ast.Module) -> set[int]:
    """The bodies: decorators, defaults and annotations run at import."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for statement in (node.body if isinstance(node.body, list) else [node.body])
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }


def changes(node: ast.AST, lines: list[str]) -> Iterator[tuple[str, Span, str]]:
    if isinstance(node, ast.Compare):
        yield from between(node.left, node.comparators[0], lines, COMPARISONS[type(node.ops[0])], "comparison")
    elif isinstance(node, ast.BoolOp):
        yield from between(node.values[0], node.values[1], lines, BOOLEAN[type(node.op)], "boolean")
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield from between(node.left, node.right, lines, ARITHMETIC[type(node.op)], "arithmetic")
    elif isinstance(node, ast.Constant) and type(node.value) is int and (span := span_of(node)):
        yield "constant", span, str(node.value + 1)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and (span := span_of(node.test)):
        yield "condition", span, f"(not ({text(span, lines)}))"
    elif isinstance(node, ast.Return) and node.value and (span := span_of(node.value)):
        yield "return", span, "None"
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield from swapped(node.args[0], node.args[1], lines)


def between(
    left: ast.expr, right: ast.expr, lines: list[str], swap: tuple[str, str], operator: str
) -> Iterator[tuple[str, Span, str]]:
    """The operator stands between its operands, perhaps among parentheses."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    gap = Span(right.lineno, left.end_col_offset, right.col_offset)
    old, new = swap
    found = re.search(re.escape(old).replace(r"\ ", r"\s+"), text(gap, lines))
    if found:
        yield operator, Span(gap.line, gap.start + found.start(), gap.start + found.end()), new


def swapped(first: ast.expr, second: ast.expr, lines: list[str]) -> Iterator[tuple[str, Span, str]]:
    one, two = span_of(first), span_of(second)
    if one is None or two is None or one.line != two.line or ast.Starred in {type(first), type(second)}:
        return
    comma = text(Span(one.line, one.end, two.start), lines)
    yield "arguments", Span(one.line, one.start, two.end), text(two, lines) + comma + text(one, lines)


def span_of(node: ast.expr) -> Span | None:
    if node.lineno != node.end_lineno or node.end_col_offset is None:
        return None
    return Span(node.lineno, node.col_offset, node.end_col_offset)


def text(span: Span, lines: list[str]) -> str:
    return lines[span.line - 1][span.start : span.end]
