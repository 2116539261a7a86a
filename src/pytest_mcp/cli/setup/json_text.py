"""A JSON text: its values, and others in its own indentation. Comments and trailing commas are only read. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

# Comments and trailing commas; strings first, since they may contain what looks like one. A comment without an end
# reaches to the end of the text.
_SPACE = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+"?)|{_SPACE}|,(?=(?:\s|{_SPACE})*+[}}\]])', re.DOTALL)
_INDENT = re.compile(r'^[ \t]+(?=")', re.MULTILINE)


def read(text: str) -> dict[str, Any]:
    values = json.loads(_plain(text) if text.strip() else "{}", object_pairs_hook=_object)
    if not isinstance(values, dict):
        raise ValueError("an object was expected")
    return values


def loss(text: str) -> Literal["comments", "layout"] | None:
    """What is lost if the text is written again."""
    if (plain := _plain(text)) != text:
        return "comments"
    return "layout" if plain.strip() and _dumped(text, read(text)) != text else None


def written(text: str, keys: Sequence[str], value: Any) -> str:
    return _dumped(text, replaced(read(text), keys, value))


def _dumped(text: str, values: Mapping[str, Any]) -> str:
    """The values, laid out like the text: in one line if it is, unless it has no values."""
    first = _INDENT.search(text)
    is_one_line = '"' in text and "\n" not in text.strip()
    indent = first[0] if first else None if is_one_line else "  "
    dumped = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent)
    end = text[len(text.rstrip()) :] if text.strip() else "\n"
    return dumped.replace("\n", "\r\n" if "\r\n" in text else "\n") + end


def replaced(values: Any, keys: Sequence[str], new: Any) -> dict[str, Any]:
    """Without the value if it is None, and without objects that are empty then."""
    key, *rest = keys
    if not isinstance(values, Mapping):
        raise ValueError(f"an object with {key!r} was expected, but another value is there")
    if new is None and key not in values:
        return dict(values)
    below = replaced(values.get(key, {}), rest, new) if rest else new
    is_gone = new is None and not below
    return {name: each for name, each in {**values, key: below}.items() if not (is_gone and name == key)}


def _plain(text: str) -> str:
    """The text without comments and trailing commas, in the same lines."""
    return _LOOSE.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("an object has a key twice, of which one would be lost")
    return values
