"""In which function a line is. Pure: source and line in, the qualified name that a code object would have out."""

import ast
from collections.abc import Iterator

MODULE = "<module>"


def function_at(source: str, line: int) -> str:
    """The innermost function whose body has the line; lambdas and comprehensions belong to the function around them."""
    found = [name for name, first, last in functions(ast.parse(source), "") if first <= line <= last]
    return found[-1] if found else MODULE


def functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of each body, the outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + child.name, child.body[0].lineno, child.end_lineno or child.lineno
            yield from functions(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)
