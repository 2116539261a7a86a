"""Which functions differ between two versions of a module. Pure: two texts in, names as code objects have them out.

A function differs if it would run otherwise: comments, docstrings, annotations and moved lines do not count.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

from bench.suspects.truth import MODULE

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_INNER = re.compile(r"\.<locals>\.<\w+>.*")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def plain(name: str) -> str:
    """Lambdas and comprehensions belong to the function around them."""
    return _INNER.sub("", name)


def scopes(source: str) -> dict[str, str]:
    """What each of them runs, without the scopes inside. Of a name that is defined twice, the last."""
    tree = ast.parse(source)
    return {MODULE: _dump(tree.body), **dict(_inside(tree, ""))}


def _inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            name = prefix + child.name
            yield name, _head(child) + _dump(child.body)
            yield from _inside(child, f"{name}." if isinstance(child, ast.ClassDef) else f"{name}.<locals>.")
        else:
            yield from _inside(child, prefix)


def _dump(body: Sequence[ast.stmt]) -> str:
    return "\n".join(ast.dump(_Bare().visit(deepcopy(each))) for each in body if not _says_nothing(each))


def _head(node: Definition) -> str:
    lines = [ast.unparse(each) for each in node.decorator_list]
    if isinstance(node, ast.ClassDef):
        return "\n".join([*lines, *map(ast.unparse, node.bases)])
    return "\n".join([*lines, ast.dump(_Bare().visit(deepcopy(node.args)))])


def _says_nothing(node: ast.stmt) -> bool:
    """A new definition or import is told by what uses it."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return is_text or isinstance(node, Definition | ast.Import | ast.ImportFrom)


class _Bare(ast.NodeTransformer):
    """Definitions inside are scopes of their own; annotations run nothing that a test would see."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, Definition):
            return ast.Name(node.name)
        if isinstance(node, ast.AnnAssign):
            node = ast.Assign([node.target], node.value) if node.value else node.target
        if isinstance(node, ast.arg):
            return ast.arg(node.arg)
        return self.generic_visit(node)


def changed(before: str, after: str) -> list[str]:
    """The names of what differs; of those that only one of them has too."""
    one, two = scopes(before), scopes(after)
    return [name for name in {**one, **two} if one.get(name) != two.get(name)]


def sides(diff: str) -> tuple[set[int], set[int]]:
    """The changed lines of a diff without context, before and after. For lines that are missing, their neighbours."""
    before: set[int] = set()
    after: set[int] = set()
    for found in _HUNK.finditer(diff):
        before |= _lines(int(found[1]), int(found[2] or 1))
        after |= _lines(int(found[3]), int(found[4] or 1))
    return before, after


def _lines(first: int, count: int) -> set[int]:
    return set(range(first, first + count)) or {first, first + 1}
