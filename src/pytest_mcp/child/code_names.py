"""The qualified name of the function that a code object belongs to.

Code of lambdas and comprehensions belongs to the function around it. From Python 3.11 on, code objects know their
qualified name; before that, the file is compiled once more to see what contains what. Standard library only.
"""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Iterator, Tuple

MODULE = "<module>"
# A larger file is data, not code that somebody wrote.
LARGEST_SOURCE = 4 * 1024 * 1024

# The plain name and the first line of a code object.
Key = Tuple[str, int]


class CodeNames:
    def __init__(self) -> None:
        self.files: dict[str, dict[Key, str]] = {}

    def name(self, code: CodeType) -> str:
        qualified = getattr(code, "co_qualname", None) or self.looked_up(code)
        return enclosing_function(qualified)

    def looked_up(self, code: CodeType) -> str:
        path = code.co_filename
        if path not in self.files:
            self.files[path] = names_in(path)
        return self.files[path].get((code.co_name, code.co_firstlineno), code.co_name)


def enclosing_function(qualified: str) -> str:
    """`f.<locals>.<listcomp>` is code of `f`."""
    parts = qualified.split(".")
    while len(parts) > 1 and (parts[-1] == "<locals>" or is_anonymous(parts[-1])):
        parts.pop()
    return MODULE if is_anonymous(parts[-1]) else ".".join(parts)


def is_anonymous(name: str) -> bool:
    return name.startswith("<") and name != "<locals>"


def names_in(path: str) -> dict[Key, str]:
    """Empty if it cannot be compiled: then plain names must do."""
    try:
        with open(path, "rb") as file:
            source = file.read(LARGEST_SOURCE + 1)
        module = compile(source, path, "exec", dont_inherit=True) if len(source) <= LARGEST_SOURCE else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        module = None
    return dict(below(module, "")) if module else {}


def below(code: CodeType, prefix: str) -> Iterator[tuple[Key, str]]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            name = prefix + inner.co_name
            yield (inner.co_name, inner.co_firstlineno), name
            is_function = inner.co_flags & inspect.CO_OPTIMIZED
            yield from below(inner, name + (".<locals>." if is_function else "."))
