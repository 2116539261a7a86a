"""What keeps a statement from being reached, or its failure from being seen."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_mcp.proof.claims import is_asserting, last_name, one_line, truth

# Handlers of these catch a failing assertion.
BROAD = {"AssertionError", "Exception", "BaseException", "Failed"}
RAISING = {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "deprecated_call"}
_SKIPPING = re.compile(r"skip\w*|xfail|exit|importorskip")
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Reach:
    """What stands between the start of a function and a statement of it."""

    never: str = ""
    swallowed: str = ""
    guards: tuple[str, ...] = ()
    # Names and rows of the loops over literals around it.
    loops: tuple[tuple[str, ast.expr], ...] = ()


def guarded(reach: Reach, condition: str) -> Reach:
    return replace(reach, guards=(*reach.guards, condition))


def after(statement: ast.stmt, reach: Reach) -> Reach:
    """How what follows this statement is reached."""
    if why := ends(statement):
        return replace(reach, never=reach.never or f"after `{why}`")
    if isinstance(statement, ast.If) and truth(statement.test) is not False:
        if any(ends(each) for each in statement.body):
            return guarded(reach, f"not ({ast.unparse(statement.test)})")
        if any(ends(each) for each in statement.orelse):
            return guarded(reach, ast.unparse(statement.test))
    return reach


def ends(statement: ast.stmt) -> str:
    """The statement that nothing of its block follows, if it is one."""
    if isinstance(statement, _ENDING):
        return one_line(statement)
    if isinstance(statement, ast.Expr) and is_skip(statement.value):
        return one_line(statement)
    if isinstance(statement, ast.If) and (known := truth(statement.test)) is not None:
        return next(filter(None, map(ends, statement.body if known else statement.orelse)), "")
    if isinstance(statement, ast.With):
        return next(filter(None, map(ends, statement.body)), "") if not _catches(statement) else ""
    return ""


def _catches(node: ast.With) -> bool:
    return any(last_name(item.context_expr) in RAISING | {"suppress"} for item in node.items)


def is_skip(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not _SKIPPING.fullmatch(last_name(node)):
        return False
    return ast.unparse(node.func).partition(".")[0] in (
        "pytest",
        "self",
        "skip",
        "xfail",
        "sys",
        "unittest",
        "importorskip",
    )


def is_broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(is_broad(each) for each in node.elts)
    return node is None or last_name(node) in BROAD


def fails(statements: Sequence[ast.stmt]) -> bool:
    """Whether a handler lets the test fail, or looks at what it has caught."""
    for node in (each for statement in statements for each in ast.walk(statement)):
        if isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and is_asserting(node)):
            return True
    return False
