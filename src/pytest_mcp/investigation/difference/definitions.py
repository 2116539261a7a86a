"""Whether a function is another one in another version of its file, whatever it stands next to.

Only for functions that one of two runs never called: of all others the child tells a digest of their code.
"""

import ast
from collections.abc import Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_changed(name: str, base: Sequence[str], now: Sequence[str]) -> bool:
    """False where one of the files cannot be parsed."""
    try:
        one, other = (ast.parse("\n".join(text)) for text in (base, now))
        return _dumped(one, name) != _dumped(other, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _dumped(module: ast.Module, name: str) -> str | None:
    """None if there is no function of this qualified name."""
    found: ast.AST | None = module
    for part in name.replace(".<locals>", "").split("."):
        inside = [] if found is None else ast.walk(found)
        found = next((each for each in inside if isinstance(each, _SCOPES) and each.name == part), None)
    return None if found is None else ast.dump(found)
