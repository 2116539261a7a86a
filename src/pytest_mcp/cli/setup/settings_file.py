"""A settings file of another program: read, changed in one place, shown as a diff, written atomically.

Every failure raises `SettingsError` and leaves the file as it was. The text is parsed again before it is written.
"""

import contextlib
import difflib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pytest_mcp.cli.setup import json_text, toml_text
from pytest_mcp.python import git_files
from pytest_mcp.text import safe, safe_line

FORMATS = {".json": json_text, ".jsonc": json_text, ".toml": toml_text}


class SettingsError(Exception):
    """Why a file cannot be used or was not changed, for the user."""

    def __init__(self, subject: Path | str, why: str) -> None:
        super().__init__(f"{subject} {why}.")
        self.why = why


@dataclass(frozen=True)
class Change:
    """The content of a file before and after, None if there is no file, and the value that changes."""

    path: Path
    # The target of the path, with symlinks resolved when it was read.
    real: Path
    before: bytes | None
    after: bytes | None
    keys: Sequence[str] = ()
    old: Any = None
    new: Any = None
    # What else the file would lose. One with comments is not written.
    loses: Literal["comments", "layout"] | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def value(path: Path, keys: Sequence[str]) -> Any:
    """What the file has at this path of keys; None if there is nothing."""
    with explained(path, "cannot be read"):
        return _inner(FORMATS[path.suffix].read((content_of(path) or b"").decode("utf-8-sig")), keys)


def unchanged(path: Path) -> Change:
    return Change(path, real(path), None, None)


def changed(path: Path, keys: Sequence[str], new: Any) -> Change:
    """The file with this value, or without it: None. A file that has nothing else then is deleted."""
    before, form = content_of(path), FORMATS[path.suffix]
    with explained(path):
        text = (before or b"").decode("utf-8-sig")
        values = form.read(text)
        wanted = json_text.replaced(values, keys, new)
        if wanted == values:
            return replace(unchanged(path), keys=keys, old=new, new=new)
        written = form.written(text, keys, new)
        if form.read(written) != wanted:
            raise ValueError(f"{'.'.join(keys)} is laid out in a way that cannot be changed safely")
        # Of TOML comments may be left.
        is_empty = wanted.keys() <= {"$schema"} and (form is json_text or not written.strip())
        after = None if new is None and is_empty and may_delete(path) else written.encode("utf-8")
        loss, old = json_text.loss(text) if form is json_text else None, _inner(values, keys)
        return Change(path, real(path), before, after, keys, old, new, loss)


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
    """Apply a change, unless the file has changed meanwhile."""
    if not change.is_needed:
        return
    try:
        _check(change)
        # Replacing needs permission for the folder only, but a read-only file is not to be changed.
        if change.before is not None and not os.access(change.real, os.W_OK):
            raise SettingsError(change.path, "is read-only")
        if change.after is None:
            change.real.unlink()
        else:
            change.real.parent.mkdir(parents=True, exist_ok=True)
            _replace(change, change.after)
    except (OSError, RuntimeError) as error:
        raise SettingsError(change.path, f"cannot be written: {getattr(error, 'strerror', error)}") from error


def _replace(change: Change, content: bytes) -> None:
    """Write a temporary file beside the old one and rename it, so that no reader sees half a file."""
    temporary = change.real.with_name(f".{change.real.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if change.before is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if change.before is not None:
            old = change.real.stat()
            os.chown(temporary, old.st_uid, old.st_gid)
            shutil.copystat(change.real, temporary)
            os.utime(temporary)  # the content is new
        _check(change)
        temporary.replace(change.real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _check(change: Change) -> None:
    if real(change.path) != change.real or content_of(change.path) != change.before:
        raise SettingsError(change.path, "was changed by another program meanwhile. Run the command again")


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
