"""Read a settings file of another program, change one entry of it, show the difference, write it atomically.

In come a path, a path of keys and an entry; out comes a `Change`, which `write` applies. Every failure raises
`ConfigFileError` and leaves the file as it was. Which file it is and what the entry contains is decided in
`known_clients`.
"""

import contextlib
import difflib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from pytest_mcp.cli.setup.editing import deletion, jsonc_edit, nested, toml_edit
from pytest_mcp.text import safe, safe_line

BYTE_ORDER_MARK = "\ufeff"
# Shown instead of a value that somebody else has added to the entry: it may be a secret.
NOT_SHOWN = "(not shown)"

# The file cannot be replaced, but perhaps overwritten: no new files in its folder, a mount point, or a new file cannot
# get its group and attributes.
NOT_REPLACEABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENOTSUP, errno.ENODATA, errno.EINVAL}
)

Entry = Mapping[str, Any]


class ConfigFileError(Exception):
    """Why a file was not changed; the message is one sentence for the user."""


class Editor(Protocol):
    """The interface of the module of a format."""

    def read(self, text: str) -> dict[str, Any]: ...
    def put(self, text: str, keys: Sequence[str], value: Entry) -> str: ...
    def drop(self, text: str, keys: Sequence[str]) -> str: ...
    def member(self, keys: Sequence[str], value: Entry) -> str: ...


EDITORS: Mapping[str, Editor] = {".json": jsonc_edit, ".jsonc": jsonc_edit, ".toml": toml_edit}


@dataclass(frozen=True)
class Change:
    """The content of a file before and after, and of the entry. None if there is no file, or will be none."""

    path: Path
    # The target of the path, with symlinks resolved when it was read.
    real: Path
    before: bytes | None = b""
    after: bytes | None = b""
    keys: Sequence[str] = ()
    old: Entry | None = None
    new: Entry | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def table(path: Path, keys: Sequence[str]) -> Mapping[str, Any]:
    """The table at this path of keys; empty if there is none."""
    with _explained(path, "cannot be read"):
        return nested.inner(EDITORS[path.suffix].read(_text(content_of(path))), keys) or {}


def is_empty(path: Path, skeleton: str = "") -> bool:
    """Whether the file contains nothing, or only what a new file begins with."""
    return table(path, ()) in ({}, EDITORS[path.suffix].read(skeleton))


def added(path: Path, keys: Sequence[str], entry: Entry, skeleton: str = "") -> Change:
    """The file with this entry; a new file also has what is in `skeleton`."""
    before = content_of(path)
    editor = EDITORS[path.suffix]
    with _explained(path):
        old = skeleton if before is None else _text(before)
        new = _created(editor, keys, entry, skeleton) if before is None else editor.put(old, keys, entry)
        if editor.read(new) != nested.replaced(editor.read(old), keys, entry):
            raise ValueError("its layout cannot be edited safely")
        known = nested.inner(editor.read(old), keys)
        return Change(path, real(path), before, _encoded(new, before), keys, known, entry)


def _created(editor: Editor, keys: Sequence[str], entry: Entry, skeleton: str) -> str:
    """A new file. Unlike a file that existed, it ends with a line end, and has the skeleton after the entry."""
    text = editor.put("", keys, entry)
    for key, value in editor.read(skeleton).items():
        text = editor.put(text, [key], value)
    return text + "\n"


def removed(path: Path, keys: Sequence[str], skeleton: str = "") -> Change:
    """The file without this entry; no file, if it is what `added` creates for this entry."""
    before = content_of(path)
    if before is None:
        return unchanged(path)
    editor = EDITORS[path.suffix]
    with _explained(path):
        old = _text(before)
        new = editor.drop(old, keys)
        if nested.pruned(editor.read(new), keys) != nested.pruned(editor.read(old), keys):
            raise ValueError("its layout cannot be edited safely")
        entry = nested.inner(editor.read(old), keys)
        is_ours = entry is not None and old == _created(editor, keys, entry, skeleton)
        return Change(path, real(path), before, _left(path, before, new, is_ours=is_ours), keys, entry)


def extended(path: Path, keys: Sequence[str], items: Sequence[Any]) -> Change:
    """The JSON file with these items in the list at this path."""
    before = content_of(path)
    with _explained(path):
        old = new = _text(before)
        known = nested.items(jsonc_edit.read(old), keys)
        missing = [item for item in items if item not in known]
        for item in missing:
            new = jsonc_edit.append(new, keys, item)
        if before is None:
            new += "\n"
        if missing and jsonc_edit.read(new) != nested.replaced(jsonc_edit.read(old), keys, [*known, *missing]):
            raise ValueError("its layout cannot be edited safely")
        return Change(path, real(path), before, _encoded(new, before), keys) if missing else unchanged(path)


def reduced(path: Path, keys: Sequence[str], is_ours: Callable[[Any], bool]) -> tuple[Change, list[Any]]:
    """The JSON file without our items in the list at this path, and those items; no file, if `extended` created it."""
    before = content_of(path)
    with _explained(path):
        old = new = _text(before)
        known = nested.items(jsonc_edit.read(old), keys)
        ours = [item for item in known if is_ours(item)]
        created = ""
        for item in reversed(ours):
            new = jsonc_edit.discard(new, keys, item)
        for item in ours:
            created = jsonc_edit.append(created, keys, item)
        left = [item for item in known if item not in ours]
        if (
            nested.pruned(jsonc_edit.read(new), keys) != nested.pruned(jsonc_edit.read(old), keys)
            or nested.items(jsonc_edit.read(new), keys) != left
        ):
            raise ValueError("its layout cannot be edited safely")
        after = _left(path, before, new, is_ours=old == created + "\n")
        return (Change(path, real(path), before, after, keys) if ours else unchanged(path)), ours


def _left(path: Path, before: bytes | None, text: str, *, is_ours: bool) -> bytes | None:
    """What is left of a file: nothing, if only we have written into it and it may be deleted."""
    return None if is_ours and deletion.is_allowed(path) else _encoded(text, before)


def unchanged(path: Path) -> Change:
    return Change(path, real(path))


def sample(path: Path, keys: Sequence[str], entry: Entry) -> str:
    """A file with only this entry, to be copied by hand."""
    return safe(EDITORS[path.suffix].put("", keys, entry))


def difference(change: Change, shown_keys: Set[str]) -> str:
    """The change as a diff, safe to print: all of a new file, otherwise only the entry.

    Other parts of the file may contain secrets. So it is no diff of the file's lines: other entries may be on the same
    lines. Of the entry, only `shown_keys` are shown with their values.
    """
    before, after = (_shown(change, entry, shown_keys) for entry in (change.old, change.new))
    return part_difference(change, ".".join(change.keys[:-1]), before, after)


def part_difference(change: Change, place: str, before: str, after: str) -> str:
    """The change of one part of the file as a diff, safe to print; all of a new file."""
    is_new = change.before is None
    after = _text(change.after) if is_new else after
    old, new = ("/dev/null" if content is None else change.path for content in (change.before, change.after))
    head = [f"--- {old}", f"+++ {new}", f"@@ {'a new file' if is_new else place} @@"]
    return "\n".join([*map(safe_line, head), *map(safe, _compared(before, after))])


def _compared(before: str, after: str) -> list[str]:
    """A unified diff with all lines. Lines are split at line feeds only, as in other diffs."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    lines = difflib.unified_diff(old, new, n=len(old) + len(new), lineterm="")
    return list(islice(lines, 3, None))  # the first three name files and lines


def _shown(change: Change, entry: Entry | None, shown_keys: Set[str]) -> str:
    if entry is None:
        return ""
    values = {name: value if name in shown_keys else NOT_SHOWN for name, value in entry.items()}
    return EDITORS[change.path.suffix].member(change.keys, values)


def write(change: Change) -> None:
    """Apply a change, unless the file has changed meanwhile."""
    if not change.is_needed:
        return
    try:
        if change.path.is_symlink() and not change.real.parent.exists():
            raise ConfigFileError(f"{change.path} is a symlink into {change.real.parent}, which does not exist.")
        _check(change)
        _write(change)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigFileError(f"{change.path} cannot be written: {reason}.") from error


def _write(change: Change) -> None:
    change.real.parent.mkdir(parents=True, exist_ok=True)
    if change.before is None:
        _replace(change, None)
        return
    # Replacing needs permission for the folder only, but a read-only file is not to be changed.
    if not os.access(change.real, os.W_OK):
        raise ConfigFileError(f"{change.path} is read-only.")
    if change.after is None:
        change.real.unlink()
        return
    old = change.real.stat()
    # Replacing would break a hard link, and change the owner of another user's file.
    if old.st_nlink > 1 or old.st_uid != getattr(os, "geteuid", lambda: old.st_uid)():
        _overwrite(change)
        return
    try:
        _replace(change, old)
    except OSError as error:
        if error.errno not in NOT_REPLACEABLE:
            raise
        _overwrite(change)


def _replace(change: Change, old: os.stat_result | None) -> None:
    """Write a temporary file beside the old one and rename it, so that no reader sees half a file."""
    temporary = change.real.with_name(f".{change.real.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.after or b"")
            file.flush()
            os.fsync(descriptor)
        if old is not None:
            _copy_metadata(change.real, temporary, old)
        _check(change)
        temporary.replace(change.real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _copy_metadata(source: Path, target: Path, old: os.stat_result) -> None:
    """Give a new file the group, extended attributes and mode of the old one; raises OSError if that is refused."""
    if target.stat().st_gid != old.st_gid:
        os.chown(target, -1, old.st_gid)
    if sys.platform == "linux":
        # Access control lists are extended attributes. A new file may inherit some from its folder.
        wanted, inherited = _attributes(source), _attributes(target)
        for name in inherited.keys() - wanted.keys():
            os.removexattr(target, name)
        for name, value in wanted.items() - inherited.items():
            os.setxattr(target, name, value)
    target.chmod(stat.S_IMODE(old.st_mode))


def _attributes(path: Path) -> dict[str, bytes]:
    assert sys.platform == "linux"
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}


def _overwrite(change: Change) -> None:
    """Write into the file itself; restore its content if that fails."""
    _check(change)
    with change.real.open("r+b", buffering=0) as file:
        try:
            content = change.after or b""
            if file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            file.truncate()
        except OSError:
            file.seek(0)
            file.write(change.before or b"")
            file.truncate()
            raise


def _check(change: Change) -> None:
    if real(change.path) != change.real or content_of(change.path) != change.before:
        raise ConfigFileError(f"{change.path} was changed by another program meanwhile. Run the command again.")


def real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def content_of(path: Path) -> bytes | None:
    try:
        if path.exists() and not path.is_file():
            raise ConfigFileError(f"{path} is not a file.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigFileError(f"{path} cannot be read: {error.strerror}.") from error


@contextlib.contextmanager
def _explained(path: Path, happened: str = "was not changed") -> Iterator[None]:
    """Raise every error of parsing and editing as a ConfigFileError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{path} is not UTF-8: byte {error.start + 1} is invalid.") from error
    except UnicodeEncodeError as error:
        raise ConfigFileError(f"{path}: the path of the command or the project is not valid Unicode.") from error
    except RecursionError as error:
        raise ConfigFileError(f"{path} is nested too deeply.") from error
    except ValueError as error:
        raise ConfigFileError(f"{path} {happened}: {safe(str(error))}.") from error


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8").removeprefix(BYTE_ORDER_MARK)


def _encoded(text: str, before: bytes | None) -> bytes:
    marked = (before or b"").startswith(BYTE_ORDER_MARK.encode())
    return ((BYTE_ORDER_MARK if marked else "") + text).encode("utf-8")
