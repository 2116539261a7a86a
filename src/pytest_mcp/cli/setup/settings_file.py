"""A settings file of another program: read, changed in one place, shown as a diff, written atomically.

Every failure raises `SettingsError` and leaves the file as it was. The text is parsed again before it is written.

JSON is written by the standard library in the indentation of the file; its comments and trailing commas are only read.
In TOML a new table is a marked block at the end, and an old one is replaced in its place. Lines are compared there, not
parsed, which a header inside a string defeats: one more reason to compare the values afterwards.
"""

import contextlib
import difflib
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.python import git_files
from pytest_mcp.text import safe, safe_line

BEGIN, END = "# pytest-mcp:begin", "# pytest-mcp:end"
# Comments and trailing commas; strings first, since they may contain what looks like one. A comment without an end
# reaches to the end of the text.
_SPACE = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+"?)|{_SPACE}|,(?=(?:\s|{_SPACE})*+[}}\]])', re.DOTALL)
# What is not part of the name in the header of a table.
_NO_NAME = re.compile(r"""#.*|[\s"'\[\]]""")
_INDENT = re.compile(r'^[ \t]+(?=")', re.MULTILINE)
_COMMENTS = "has comments or trailing commas, which would be lost, so it is not changed"


class SettingsError(Exception):
    """Why a file cannot be used or was not changed, for the user."""

    def __init__(self, subject: Path | str, why: str) -> None:
        super().__init__(f"{subject} {why}.")
        self.why = why


@dataclass(frozen=True)
class Change:
    """The content of a file before and after, None if there is no file, and the value that changes."""

    # Without symlinks, as they were when it was read.
    path: Path
    before: bytes | None
    after: bytes | None
    keys: Sequence[str] = ()
    old: Any = None
    new: Any = None
    # Why it cannot be written.
    obstacle: str | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def check(self) -> None:
        if self.obstacle is not None:
            raise SettingsError(self.path, self.obstacle)


def value(path: Path, keys: Sequence[str]) -> Any:
    """What the file has at this path of keys; None if there is nothing."""
    with explained(path, "cannot be read"):
        text = (content_of(path) or b"").decode("utf-8-sig")
        return _inner(read(text, is_toml=path.suffix == ".toml"), keys)


def unchanged(path: Path) -> Change:
    return Change(real(path), None, None)


def changed(path: Path, keys: Sequence[str], new: Any) -> Change:
    """The file with this value, or without it: None. A file that has nothing else then is deleted."""
    before, is_toml = content_of(path), path.suffix == ".toml"
    with explained(path):
        text = (before or b"").decode("utf-8-sig")
        values = read(text, is_toml=is_toml)
        wanted = replaced(values, keys, new)
        if wanted == values:
            return Change(real(path), before, before, keys, new, new)
        new_text = written(text, keys, new, is_toml=is_toml)
        if read(new_text, is_toml=is_toml) != wanted:
            raise ValueError(f"{'.'.join(keys)} is laid out in a way that cannot be changed safely")
        # Comments of TOML may be left.
        is_empty = not new_text.strip() if is_toml else wanted.keys() <= {"$schema"}
        after = None if new is None and is_empty and may_delete(path) else new_text.encode("utf-8")
        has_comments = not is_toml and without_comments(text) != text
        return Change(real(path), before, after, keys, _inner(values, keys), new, _COMMENTS if has_comments else None)


def _inner(values: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def may_delete(path: Path) -> bool:
    return not path.is_symlink() and not git_files.is_tracked(real(path), if_unknown=True)


def difference(change: Change, before: str, after: str) -> str:
    """One part of the file as a diff, safe to print: lines of the file would show secrets of its other entries."""
    old, new = ("/dev/null" if content is None else change.path for content in (change.before, change.after))
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=999, lineterm="")
    return "\n".join([*map(safe_line, (f"--- {old}", f"+++ {new}")), *map(safe, [*lines][3:])])


def write(change: Change) -> None:
    """Apply a change, unless the file has changed meanwhile.

    A temporary file beside the old one is renamed, so that no reader sees half a file.
    """
    if not change.is_needed:
        return
    change.check()
    temporary = change.path.with_name(f".{change.path.name}.{os.getpid()}")
    try:
        _replace(change, temporary)
    except OSError as error:
        raise SettingsError(change.path, f"cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _replace(change: Change, temporary: Path) -> None:
    # Replacing needs permission for the folder only, but a read-only file is not to be changed.
    if change.before is not None and not os.access(change.path, os.W_OK):
        raise SettingsError(change.path, "is read-only")
    if change.after is not None:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        _prepare(temporary, change.after, change.path if change.before is not None else None)
    if real(change.path) != change.path or content_of(change.path) != change.before:
        raise SettingsError(change.path, "was changed by another program meanwhile. Run the command again")
    if change.after is None:
        change.path.unlink()
    else:
        temporary.replace(change.path)


def _prepare(temporary: Path, content: bytes, old: Path | None) -> None:
    """A file with this content, and everything else as the old one has it."""
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    if old is not None:
        facts = old.stat()
        os.chown(temporary, facts.st_uid, facts.st_gid)
        shutil.copystat(old, temporary)
        os.utime(temporary)  # the content is new


def real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def content_of(path: Path) -> bytes | None:
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(path, "is not a file")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(path, f"cannot be read: {error.strerror}") from error


@contextlib.contextmanager
def explained(path: Path, happened: str = "was not changed") -> Iterator[None]:
    """Raise every error of parsing and editing as a SettingsError."""
    try:
        yield
    except (RecursionError, ValueError) as error:
        raise SettingsError(path, f"{happened}: {safe(str(error))}") from error


# The text


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
