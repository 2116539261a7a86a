"""Code that nobody writes a test for, so that edits of it tell nothing: found by reading survivors."""

import ast
import re
from collections.abc import Iterator, Sequence

from pytest_mcp.proof.checks import last_name
from pytest_mcp.proof.suite import parsed

# Folders with code that tests rarely have to do with.
ASIDE_FOLDERS = frozenset(
    {"examples", "example", "docs", "doc", "benchmarks", "bench", "scripts", "tools", "asv_bench"}
)
_NO_COVER = re.compile(rb"#\s*(?:pragma|type):?\s*no[ -]?cover", re.IGNORECASE)
# Calls whose effect is for the eyes of people, by the last part of their names.
TALK = frozenset(
    {
        *("print", "warn", "warning", "debug", "info", "error", "exception", "critical", "log", "echo", "secho"),
        *("warn_explicit", "add_note", "deprecated", "sleep", "collect", "cast", "TypeVar", "namedtuple", "NewType"),
    }
)
_SHOWS = frozenset({"__repr__", "__str__", "__format__", "__sizeof__", "__del__", "__dir__", "__rich_repr__"})
# Arguments that tests do not look at.
ARID_KEYWORDS = frozenset(
    {
        *("stacklevel", "lineno", "line", "col_offset", "timeout", "maxsize", "help", "doc", "description", "strict"),
        *("indent", "category", "message", "msg", "encoding", "errors", "daemon", "name", "copy", "repr", "compare"),
    }
)


def lines_aside(source: str) -> frozenset[int]:
    """Lines that no test has to run: for the type checker, of scripts, abstract, or marked by hand."""
    rows = source.encode().split(b"\n")
    aside = (node for node in _statements(source) if _is_aside(node, rows[node.lineno - 1]))
    return frozenset(line for node in aside for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def lines_with_code(source: str) -> frozenset[int]:
    """On which statements begin."""
    return frozenset(node.lineno for node in _statements(source))


def _statements(source: str) -> Iterator[ast.stmt]:
    """Without strings, which document."""
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield node


def is_arid(node: ast.stmt, row: bytes) -> bool:
    """Whether no part of a statement is edited; `row` is its first line."""
    if _is_aside(node, row):
        return True
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Global() | ast.Nonlocal() | ast.Pass():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return last_name(function) in TALK
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name.startswith("__") or last_name(getattr(node.value, "func", None)) in TALK
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name in _SHOWS
    return False


def _is_aside(node: ast.stmt, row: bytes) -> bool:
    if _NO_COVER.search(row):
        return True
    match node:
        case ast.If(test=test):
            return last_name(test) == "TYPE_CHECKING" or _is_main(test)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return not {last_name(mark) for mark in node.decorator_list}.isdisjoint({"overload", "abstractmethod"})
        case ast.Raise():
            return last_name(node.exc) == "NotImplementedError"
    return False


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def is_abstract(node: ast.Raise) -> bool:
    return last_name(node.exc) in ("NotImplementedError", "AssertionError") or node.exc is None


def is_best_so_far(test: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """`if value > best: best = value`, in which equal values make no difference."""
    match test, body:
        case ast.Compare(left=left, comparators=[right]), [ast.Assign(targets=[target], value=value)]:
            sides = {ast.dump(left).replace("Store", "Load"), ast.dump(right).replace("Store", "Load")}
            return {ast.dump(target).replace("Store", "Load"), ast.dump(value)} == sides
    return False
