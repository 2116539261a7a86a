"""Add, replace or remove one table of a TOML text.

In come a text, the path of a table and its values; out comes the changed text. Every other byte is kept. Pure; files
are read and written in `config_file`.

A new table is appended after one empty line, and ends like the text: with or without a line end, without one if the
text is empty. So `drop` undoes `put` byte for byte. All values are parsed by `tomllib`; this
module only finds their positions.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# Strings and comments, which can contain brackets and line ends; brackets, which can contain line ends; line ends.
_LEXEME = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3}(?!")|'{3}.*?'{3}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[\]{}]|\n""", re.DOTALL
)
_LINE_END = re.compile(r"\r?\n\Z")
_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}


class TomlError(ValueError):
    """This table has a layout that cannot be edited here."""


class Section(NamedTuple):
    """The header of a table and its lines. Comments before the next header belong to the next one."""

    path: tuple[str, ...]
    start: int
    end: int


def read(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def put(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this table at this path; replaces an existing one."""
    if _has(read(text), keys):
        return _replaced(text, keys, value)
    newline = _newline(text)
    ended = text.endswith("\n")
    gap = newline * ((not ended) + 1) if text else ""
    return text + gap + _written(keys, value, newline) + (newline if ended else "")


def drop(text: str, keys: Sequence[str]) -> str:
    """The text without the table at this path and the tables below it."""
    if not _has(read(text), keys):
        return text
    for section in reversed(_own(text, keys)):
        text = _cut(text, section)
    return text


def member(keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """This table alone, with its header."""
    return _written(keys, value, "\n")


def _replaced(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    first, *others = _own(text, keys)
    kept = _kept(text, keys, value) if first.path == tuple(keys) else frozenset()
    for section in reversed(others):
        if section.path[len(keys)] not in kept:
            text = _cut(text, section)
    newline = _newline(text)
    ended = newline if text[first.start : first.end].endswith("\n") else ""
    rest = {key: each for key, each in value.items() if key not in kept}
    return text[: first.start] + _written(keys, rest, newline) + ended + text[first.end :]


def _kept(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> frozenset[str]:
    """The keys that have headers of their own and do not change: their text is kept."""
    old: Any = read(text)
    for key in keys:
        old = old[key]
    if not isinstance(old, Mapping):
        return frozenset()
    below = {section.path[len(keys)] for section in _own(text, keys) if len(section.path) > len(keys)}
    return frozenset(key for key in below if key in value and old[key] == value[key])


def _own(text: str, keys: Sequence[str]) -> list[Section]:
    path = tuple(keys)
    own = [section for section in _sections(text) if section.path[: len(path)] == path]
    if not own:
        raise TomlError(f"{'.'.join(path)} exists, but has no header of its own")
    return own


def _cut(text: str, section: Section) -> str:
    before = text[: section.start]
    shorter = _LINE_END.sub("", before)
    # Remove the empty line before the table, and the line end that `put` added if the text had none.
    if not shorter or shorter.endswith("\n"):
        before = shorter
    if not text[section.start : section.end].endswith("\n"):
        before = _LINE_END.sub("", before)
    return before + text[section.end :]


def _sections(text: str) -> list[Section]:
    found: list[Section] = []
    for start, end in _statements(text):
        words = text[start:end].strip()
        if words.startswith("["):
            found.append(Section(_path(words), start, end))
        elif found and words and not words.startswith("#"):
            found[-1] = found[-1]._replace(end=end)
    return found


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each statement, which may span several lines."""
    start = depth = 0
    for token in _LEXEME.finditer(text):
        depth += _NESTING.get(token.group(), 0)
        if token.group() == "\n" and depth == 0:
            yield start, token.end()
            start = token.end()
    if start < len(text):
        yield start, len(text)


def _path(header: str) -> tuple[str, ...]:
    keys: list[str] = []
    values: Any = read(header)
    while isinstance(values, dict) and values:
        ((key, values),) = values.items()
        keys.append(key)
    return tuple(keys)


def _written(keys: Sequence[str], value: Mapping[str, Any], newline: str) -> str:
    header = "[" + ".".join(map(_key, keys)) + "]"
    return newline.join([header, *_pairs(value)])


def _pairs(value: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_literal(each)}" for key, each in value.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _literal(key)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    # Strings, numbers and booleans are the same in JSON and TOML. A date becomes a string; `config_file` compares the
    # values before and after, and then refuses the change.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _has(values: Mapping[str, Any], keys: Sequence[str]) -> bool:
    inner: Any = values
    for key in keys:
        if not isinstance(inner, Mapping):
            raise TomlError(f"a table with {key} was expected, but another value was found")
        if key not in inner:
            return False
        inner = inner[key]
    return True
