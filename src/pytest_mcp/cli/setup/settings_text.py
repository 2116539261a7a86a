"""The text of a settings file with one value changed. Pure.

JSON is written by the standard library in the indentation of the file; its comments and trailing commas are only read.
In TOML a new table is a marked block at the end, and an old one is replaced in its place. Lines are compared there, not
parsed, which a header inside a string defeats. So the caller compares the values afterwards.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

BEGIN, END = "# pytest-mcp:begin", "# pytest-mcp:end"
# Comments and trailing commas; strings first, since they may contain what looks like one. A comment without an end
# reaches to the end of the text.
_SPACE = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+"?)|{_SPACE}|,(?=(?:\s|{_SPACE})*+[}}\]])', re.DOTALL)
# What is not part of the name in the header of a table.
_NO_NAME = re.compile(r"""#.*|[\s"'\[\]]""")
_INDENT = re.compile(r'^[ \t]+(?=")', re.MULTILINE)


def read(text: str, *, is_toml: bool = False) -> dict[str, Any]:
    if is_toml:
        return tomllib.loads(text)
    values = json.loads(without_comments(text).strip() or "{}", object_pairs_hook=_object)
    if not isinstance(values, dict):
        raise ValueError("an object was expected")
    return values


def without_comments(text: str) -> str:
    """A JSON text without comments and trailing commas, in the same lines."""
    return _LOOSE.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("an object has a key twice, of which one would be lost")
    return values


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


def written(text: str, keys: Sequence[str], value: Any, *, is_toml: bool = False) -> str:
    """The text with this value, or without it: None."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if is_toml:
        return _toml(text, keys, value, newline)
    # In one line if the text is, unless it has no values.
    first, is_one_line = _INDENT.search(text), '"' in text and "\n" not in text.strip()
    indent = first[0] if first else None if is_one_line else "  "
    dumped = json.dumps(replaced(read(text), keys, value), ensure_ascii=False, allow_nan=False, indent=indent)
    return dumped.replace("\n", newline) + (text[len(text.rstrip()) :] if text.strip() else "\n")


def _toml(text: str, keys: Sequence[str], value: Any, newline: str) -> str:
    table = [] if value is None else [line + newline for line in (f"[{'.'.join(keys)}]", *_pairs(value))]
    # Not `splitlines`, which would split strings too.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    start, end = _place(lines, keys)
    if start == end:
        gap = newline * ((not text.endswith("\n")) + 1) if text.strip() else ""
        return text + gap + "".join([BEGIN + newline, *table, END + newline]) if table else text
    if value is None:
        is_marked = [line.strip() for line in (*lines[start - 1 : start], *lines[end : end + 1])] == [BEGIN, END]
        start, end = start - is_marked, end + is_marked
        start -= start > 0 and not lines[start - 1].strip()
    return "".join([*lines[:start], *table, *lines[end:]])


def _place(lines: Sequence[str], keys: Sequence[str]) -> tuple[int, int]:
    """The lines of the table and of those below it, if it is there. Comments before the next header belong to that."""
    plain = {number: _NO_NAME.sub("", line) for number, line in enumerate(lines) if line.lstrip().startswith("[")}
    own = [number for number, name in plain.items() if f"{name}.".startswith(".".join([*keys, ""]))]
    start = own[0] if own else len(lines)
    end = next((number for number in plain if number > start and number not in own), len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return start, end


def _pairs(value: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_literal(each)}" for key, each in value.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _literal(key)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    # Strings, numbers and booleans are the same in JSON and TOML. A date becomes a string, and then the values differ.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
