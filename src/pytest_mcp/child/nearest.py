"""Which tests tell most about a failure: those that run nearly the same code.

In come pytest's items and the failing tests; out comes an order. The failing tests run first. What they ran, and what
the other test modules import of it, decides about the others. Standard library and pytest's public names only.
"""

from __future__ import annotations

import os
from collections import Counter
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Iterable, Sequence
from typing import Counter as Count

# Of a test with many parameter sets so many are chosen; of the failing test more, because they differ least.
VARIANTS = 4
OWN_VARIANTS = 40
# So many tests of one file, then as many of the next: one large file does not keep out the others.
IN_TURN = 20


def failing_first(
    items: Sequence[Any], failing: Sequence[str], name_of: Callable[[Any], str]
) -> tuple[list[Any], list[Any]]:
    """The failing tests in the order of their ids, and the others."""
    named = {name_of(item): item for item in reversed(items)}
    found = [named[node_id] for node_id in dict.fromkeys(failing) if node_id in named]
    chosen = {id(item) for item in found}
    return found, [item for item in items if id(item) not in chosen]


def by_nearness(others: Sequence[Any], failing: Sequence[Any], ran: Iterable[CodeType]) -> list[Any]:
    """The nearest first: tests of the same class, of the same file, of files that use the same code, all others."""
    used = UsedCode(ran)
    functions = {function_of(item) for item in failing}
    classes = {function[:2] for function in functions if function[1] is not None}
    paths = {function[0] for function in functions}
    seen: Count[Any] = Counter()
    keyed = []
    for item in others:
        function = path, cls, _ = function_of(item)
        seen[function] += 1
        if seen[function] > (OWN_VARIANTS if function in functions else VARIANTS):
            continue
        if path in paths:
            keyed.append(((0 if function in functions or (path, cls) in classes else 1, 0, 0), item))
            continue
        turn, shared = seen[path] // IN_TURN, used.in_module(path, getattr(item, "module", None))
        seen[path] += 1
        keyed.append(((2 if shared else 3, turn, -shared), item))
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def function_of(item: Any) -> tuple[str, Any, str]:
    return str(item.path), getattr(item, "cls", None), getattr(item, "originalname", None) or item.name


class UsedCode:
    """Code that has run, as the names of a test module stand for it."""

    def __init__(self, ran: Iterable[CodeType]) -> None:
        codes = list(ran)
        self.codes = {id(code) for code in codes}
        self.files = {code.co_filename for code in codes}
        self.folders = {os.path.dirname(file) for file in self.files}
        self.known: dict[str, int] = {}

    def in_module(self, path: str, module: Any) -> int:
        """How many of its names."""
        if path not in self.known:
            # No attribute of the values is read: lazy objects would load what they stand for.
            names = list(vars(module).values()) if isinstance(module, ModuleType) else []
            self.known[path] = sum(map(self.has, names))
        return self.known[path]

    def has(self, value: Any) -> bool:
        if isinstance(value, FunctionType):
            return id(value.__code__) in self.codes
        if isinstance(value, type):
            return any(isinstance(member, FunctionType) and self.has(member) for member in vars(value).values())
        file = vars(value).get("__file__") if isinstance(value, ModuleType) else None
        return file in self.files or (isinstance(file, str) and os.path.dirname(file) in self.folders)
