"""A settings file of another program: read, changed in one place, shown as a diff, written atomically.

Every failure raises `SettingsError` and leaves the file as it was. The text is parsed again before it is written.
"""

import contextlib
import difflib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.cli.setup import settings_text
from pytest_mcp.python import git_files
from pytest_mcp.text import safe, safe_line

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
        return _inner(settings_text.read(text, is_toml=path.suffix == ".toml"), keys)


def unchanged(path: Path) -> Change:
    return Change(real(path), None, None)


def changed(path: Path, keys: Sequence[str], new: Any) -> Change:
    """The file with this value, or without it: None. A file that has nothing else then is deleted."""
    before, is_toml = content_of(path), path.suffix == ".toml"
    with explained(path):
        text = (before or b"").decode("utf-8-sig")
        values = settings_text.read(text, is_toml=is_toml)
        wanted = settings_text.replaced(values, keys, new)
        if wanted == values:
            return Change(real(path), before, before, keys, new, new)
        written = settings_text.written(text, keys, new, is_toml=is_toml)
        if settings_text.read(written, is_toml=is_toml) != wanted:
            raise ValueError(f"{'.'.join(keys)} is laid out in a way that cannot be changed safely")
        # Comments of TOML may be left.
        is_empty = not written.strip() if is_toml else wanted.keys() <= {"$schema"}
        after = None if new is None and is_empty and may_delete(path) else written.encode("utf-8")
        has_comments = not is_toml and settings_text.without_comments(text) != text
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
    except OSError as error:
        raise SettingsError(change.path, f"cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


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
