"""How a function treats a piece of state, as its source shows.

In come a code object and a name; out comes whether the function only counts by it, or only adds to it and can tell
nobody what is in it, as a function does that registers something. What cannot be found in the source uses it in every
way. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Iterator, Tuple

# A larger file is data, not code that somebody wrote.
LARGEST_SOURCE = 4 * 1024 * 1024
# Calls of these change nothing and keep nothing.
HARMLESS = frozenset(
    ["any", "all", "len", "isinstance", "issubclass", "type", "id", "str", "repr", "hasattr", "getattr"]
)
HARMLESS |= {"warn", "debug", "join", "format", "lower", "strip"}

# The plain name and the first line of a function.
Key = Tuple[str, int]


class StateCode:
    def __init__(self) -> None:
        self.files: dict[str, dict[Key, ast.AST]] = {}

    def node(self, code: CodeType) -> ast.AST | None:
        path = code.co_filename
        if path not in self.files:
            self.files[path] = dict(functions_in(path))
        return self.files[path].get((code.co_name, code.co_firstlineno))

    def writes(self, code: CodeType, name: str, *, is_attribute: bool) -> list[bool]:
        """For each place that assigns to this name, whether it only adds a constant, as `x.y += 1` does."""
        node = self.node(code)
        return [] if node is None else list(assignments(node, name, is_attribute))

    def only_adds(self, code: CodeType, name: str) -> bool:
        node = self.node(code)
        return node is not None and all(is_harmless(each, name) for each in ast.walk(node) if each is not node)


def functions_in(path: str) -> Iterator[tuple[Key, ast.AST]]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(LARGEST_SOURCE))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min(each.lineno for each in [node, *node.decorator_list])
            yield (node.name, first), node


def assignments(node: ast.AST, name: str, is_attribute: bool) -> Iterator[bool]:
    counted = {
        id(each.target)
        for each in ast.walk(node)
        if isinstance(each, ast.AugAssign)
        and isinstance(each.op, (ast.Add, ast.Sub))
        and isinstance(each.value, ast.Constant)
    }
    for each in ast.walk(node):
        if is_store(each) and named(each) == name and not (is_attribute and is_of_instance(each)):
            yield id(each) in counted


def is_store(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def named(node: Any) -> str | None:
    return getattr(node, "id", None) or getattr(node, "attr", None)


def is_of_instance(node: Any) -> bool:
    """`self.x = ...` changes no class."""
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "self"


def is_harmless(node: Any, name: str) -> bool:
    """Whether nothing but the state called `name` can depend on that state by this part of a function."""
    if isinstance(node, ast.Return):
        return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    if isinstance(node, ast.Call):
        function = node.func
        plain = getattr(function, "id", None) or getattr(function, "attr", None)
        return plain in HARMLESS or (isinstance(function, ast.Attribute) and root(function) == name)
    if isinstance(node, (ast.Attribute, ast.Subscript)) and is_store(node):
        return root(node) == name
    return not isinstance(node, FLOWS)


FLOWS = (ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.With, ast.Assert)


def root(node: Any) -> str | None:
    """The name that `name[...].x.append` begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", None)
