"""A TOML text with another table: a new one in a marked block at the end, an old one in its place. Pure.

Lines are compared, not parsed, which a header inside a string defeats. So the caller compares the values afterwards.
"""

import contextlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

read = tomllib.loads
BEGIN, END = "# pytest-mcp:begin", "# pytest-mcp:end"


def written(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with this table, or without it: None."""
    newline = "\r\n" if "\r\n" in text else "\n"
    header = f"[{'.'.join(map(_key, keys))}]"
    table = [] if value is None else [line + newline for line in (header, *_pairs(value))]
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
    headers = {number: _path(line)[: len(keys)] for number, line in enumerate(lines) if line.lstrip().startswith("[")}
    start = next((number for number, path in headers.items() if path == list(keys)), len(lines))
    others = (number for number, path in headers.items() if number > start and path not in ([], list(keys)))
    end = next(others, len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return start, end


def _path(header: str) -> list[str]:
    """The keys of a header; none if it is a line of a value."""
    keys = list[str]()
    with contextlib.suppress(tomllib.TOMLDecodeError):
        values: Any = read(header)
        while values and isinstance(values, dict):
            ((key, values),) = values.items()
            keys.append(key)
    return keys


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
