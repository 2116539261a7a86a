"""Values in nested tables, by a path of keys: read, replaced or removed. Pure; nothing is changed in place."""

from collections.abc import Mapping, Sequence
from typing import Any


def inner(values: Any, keys: Sequence[str]) -> Mapping[str, Any] | None:
    """The table at this path of keys; None if there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values if isinstance(values, Mapping) else None


def items(values: Any, keys: Sequence[str]) -> list[Any]:
    """The list at this path of keys; empty if there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values if isinstance(values, list) else []


def replaced(values: Any, keys: Sequence[str], entry: Any) -> dict[str, Any]:
    key, *rest = keys
    below = values.get(key, {})
    return {**values, key: replaced(below, rest, entry) if rest else entry}


def pruned(values: Any, keys: Sequence[str]) -> Any:
    """These values without the entry, and without tables that are empty then."""
    key, *rest = keys
    if not isinstance(values, Mapping) or key not in values:
        return values
    below = pruned(values[key], rest) if rest else {}
    return {**values, key: below} if below else {name: each for name, each in values.items() if name != key}
