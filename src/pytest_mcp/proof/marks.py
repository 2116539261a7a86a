"""Marks and rows of parameters, as decorators and module constants say them."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_mcp.proof.claims import calls_in, keywords_of, last_name, one_line, truth

# Also `nothing`, a decorator that does not use what it decorates.
_MARKS = re.compile(r"nothing|skip\w*|xfail|expectedFailure|expected_failure|flaky")
# A decorator that nobody here can read, by a name that says what it does.
_TELLING = re.compile(r"\w*(?:skip|xfail|disable|ignore|flaky|broken|quarantine)\w*", re.IGNORECASE)


@dataclass(frozen=True)
class Mark:
    """`pytest.mark.skipif(…)`, with the line where it stands. `name` is its last name, `why` its condition."""

    name: str
    text: str
    line: int = field(compare=False)
    is_certain: bool


@dataclass(frozen=True)
class Parameters:
    """The rows of one `parametrize`; None if they are computed."""

    names: str
    rows: tuple[str, ...] | None
    line: int = field(compare=False)
    values: tuple[ast.expr, ...] = field(default=(), compare=False)


def assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def rows_of(node: ast.expr, constants: Mapping[str, ast.expr], depth: int = 5) -> list[ast.expr] | None:
    """The elements of what is written as a list, or added up from lists, or assigned once."""
    match node:
        case ast.List() | ast.Tuple() | ast.Set() if not any(isinstance(each, ast.Starred) for each in node.elts):
            return list(node.elts)
        case ast.Dict() if None not in node.keys:
            return [ast.Tuple([key, value]) for key, value in zip(node.keys, node.values, strict=True) if key]
        case ast.Name() if node.id in constants and depth:
            return rows_of(constants[node.id], constants, depth - 1)
        case ast.BinOp(op=ast.Add()):
            left, right = rows_of(node.left, constants, depth), rows_of(node.right, constants, depth)
            return None if left is None or right is None else left + right
        case ast.Call(func=ast.Name("list" | "tuple" | "sorted"), args=[inner]):
            return rows_of(inner, constants, depth)
        case ast.Call(func=ast.Attribute(attr="items"), args=[]):
            return rows_of(node.func.value, constants, depth) if isinstance(node.func, ast.Attribute) else None
        case ast.Call(func=ast.Name("range")) if all(
            isinstance(each, ast.Constant) and _is_int(each.value) for each in node.args
        ):
            numbers = [
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, int)
            ]
            return [ast.Constant(number) for number in range(*numbers)[:1000]]
        case ast.Subscript(slice=ast.Slice(lower=None, upper=ast.Constant(int(upper)), step=None)):
            rows = rows_of(node.value, constants, depth)
            return None if rows is None else rows[:upper]
    return None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and abs(value) < 100_000


def plain_row(node: ast.expr) -> str:
    """Without its id, but with what skips it."""
    if isinstance(node, ast.Call) and last_name(node) == "param":
        marks = keywords_of(node).get("marks", ast.Tuple([]))
        given = node.args[0] if len(node.args) == 1 else ast.Tuple(node.args)
        lame = any(_MARKS.fullmatch(last_name(each)) for each in ast.walk(marks))
        return ast.unparse(given) + f" # {ast.unparse(marks)}" * lame
    return ast.unparse(node)


def is_certain(mark: ast.expr) -> bool:
    """Whether it holds wherever the tests run, as far as its own text says."""
    if not isinstance(mark, ast.Call) or last_name(mark) in ("skip", "flaky"):
        return True
    conditions = [*mark.args, *(value for name, value in keywords_of(mark).items() if name == "condition")]
    if last_name(mark) in ("skipif", "skipIf", "skipUnless"):
        known = truth(conditions[0]) if conditions else None
        return known is (last_name(mark) != "skipUnless")
    return last_name(mark) != "xfail" or not conditions or truth(conditions[0]) is True


def is_lame(mark: Mark) -> bool:
    return bool(_MARKS.fullmatch(mark.name)) or bool(_TELLING.fullmatch(mark.name))


def module_skips(tree: ast.Module) -> Iterator[Mark]:
    """Calls and raises at the top of a module that end its collection."""
    for node, conditions in _top(tree.body):
        certain = all(truth(each) is True for each in conditions)
        if isinstance(node, ast.Raise) and node.exc is not None and "Skip" in last_name(node.exc):
            yield Mark("skip", one_line(node), node.lineno, certain)
        for call in calls_in(node) if isinstance(node, ast.Expr | ast.Assign) else ():
            if last_name(call) == "importorskip" and call.args:
                wanted = str(call.args[0].value).partition(".")[0] if isinstance(call.args[0], ast.Constant) else ""
                unused = isinstance(node, ast.Expr) and wanted not in _imported(tree)
                yield Mark("importorskip", one_line(call), node.lineno, unused and certain)
            elif last_name(call) in ("skip", "exit") and ast.unparse(call.func) in (
                "pytest.skip",
                "skip",
                "pytest.exit",
            ):
                yield Mark("skip", one_line(call), node.lineno, certain)


def _imported(tree: ast.Module) -> set[str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [
        node.module or "" if isinstance(node, ast.ImportFrom) else each.name for node in imports for each in node.names
    ]
    return {name.partition(".")[0] for name in names}


def _top(body: Sequence[ast.stmt], *conditions: ast.expr) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    for node in body:
        if isinstance(node, ast.If):
            if truth(node.test) is not False:
                yield from _top(node.body, *conditions, node.test)
            yield from _top(node.orelse, *conditions, ast.UnaryOp(ast.Not(), node.test))
        elif isinstance(node, ast.Try):
            unknown = ast.Name("an_import_failed")
            yield from _top(node.body, *conditions)
            yield from (each for handler in node.handlers for each in _top(handler.body, *conditions, unknown))
        else:
            yield node, conditions
