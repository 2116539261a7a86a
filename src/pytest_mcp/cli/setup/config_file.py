"""A settings file of another program: read, changed in one entry, compared, written whole or not at all.

In come a path, a path of keys and an entry; out comes a `Change`, which `write` carries out. What cannot be
done raises `Trouble` and leaves the file as it was. Which file it is and what the entry says is decided by others.
"""

import contextlib
import difflib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from pytest_mcp.cli.setup import jsonc_edit, toml_edit
from pytest_mcp.text import safe, safe_line

BYTE_ORDER_MARK = "\ufeff"
# What is shown of a member that somebody has added to the entry: it may be a secret.
NOT_SHOWN = "(not shown)"

# The folder takes no new files, the file is mounted on its own, or a new one cannot have its group and attributes:
# it can still be written into.
NO_SWAP = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENOTSUP, errno.ENODATA, errno.EINVAL}
)

Entry = Mapping[str, Any]


class Trouble(Exception):
    """Why a file was left alone; the message is one sentence for a person."""


class Editor(Protocol):
    """What the module of a format can do."""

    def read(self, text: str) -> dict[str, Any]: ...
    def put(self, text: str, keys: Sequence[str], value: Entry) -> str: ...
    def drop(self, text: str, keys: Sequence[str]) -> str: ...
    def member(self, keys: Sequence[str], value: Entry) -> str: ...


EDITORS: Mapping[str, Editor] = {".json": jsonc_edit, ".jsonc": jsonc_edit, ".toml": toml_edit}


@dataclass(frozen=True)
class Change:
    """What a file holds now and what it shall hold, and the same of the entry; None stands for none."""

    path: Path
    # Where it led when it was read.
    real: Path
    before: bytes | None = None
    after: bytes | None = None
    keys: Sequence[str] = ()
    old: Entry | None = None
    new: Entry | None = None

    @property
    def is_one(self) -> bool:
        return self.before != self.after


def table(path: Path, keys: Sequence[str]) -> Mapping[str, Any]:
    """What the file has at this path of keys; nothing where there is no table."""
    with _told(path):
        return _inner(EDITORS[path.suffix].read(_text(_bytes(path))), keys) or {}


def is_bare(path: Path, skeleton: str = "") -> bool:
    """Whether nothing is in the file, or nothing but what a new one begins with."""
    return table(path, ()) in ({}, EDITORS[path.suffix].read(skeleton))


def added(path: Path, keys: Sequence[str], entry: Entry, skeleton: str = "") -> Change:
    """The file with this entry; a new one begins as `skeleton`."""
    before = _bytes(path)
    editor = EDITORS[path.suffix]
    with _told(path):
        old = skeleton if before is None else _text(before)
        new = editor.put(old, keys, entry)
        if editor.read(new) != _with(editor.read(old), keys, entry):
            raise ValueError("it is written in a way that cannot be changed safely")
        if before is None:
            new = new.removesuffix("\n") + "\n"
        return Change(path, _real(path), before, _encoded(new, before), keys, _inner(editor.read(old), keys), entry)


def removed(path: Path, keys: Sequence[str]) -> Change:
    """The file without this entry. It stays, even with nothing in it: nobody knows any more who has made it."""
    before = _bytes(path)
    if before is None:
        return unchanged(path)
    editor = EDITORS[path.suffix]
    with _told(path):
        old = _text(before)
        new = editor.drop(old, keys)
        if _pruned(editor.read(new), keys) != _pruned(editor.read(old), keys):
            raise ValueError("it is written in a way that cannot be changed safely")
        return Change(path, _real(path), before, _encoded(new, before), keys, _inner(editor.read(old), keys))


def unchanged(path: Path) -> Change:
    return Change(path, _real(path))


def sample(path: Path, keys: Sequence[str], entry: Entry) -> str:
    """The entry as such a file would hold it, to be copied by hand."""
    return safe(EDITORS[path.suffix].put("", keys, entry))


def difference(change: Change, members: Set[str]) -> str:
    """The change as a diff, safe to print: of a new file all, otherwise the entry and nothing of its neighbours.

    They may hold secrets, and the lines of the file are no help: a neighbour may stand in the same one, and an entry
    behind it gives it a comma. Of the entry, only `members` are shown with their values.
    """
    is_new = change.before is None
    before, after = (_shown(change, entry, members) for entry in (change.old, change.new))
    after = _text(change.after) if is_new else after
    place = "a new file" if is_new else ".".join(change.keys[:-1])
    head = [f"--- {'/dev/null' if is_new else change.path}", f"+++ {change.path}", f"@@ {place} @@"]
    return "\n".join([*map(safe_line, head), *map(safe, _compared(before, after))])


def _compared(before: str, after: str) -> list[str]:
    """Both texts whole, as a unified diff has them. Split at line feeds alone, as every other diff does."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    lines = difflib.unified_diff(old, new, n=len(old) + len(new), lineterm="")
    return list(islice(lines, 3, None))  # the first three name files and lines


def _shown(change: Change, entry: Entry | None, members: Set[str]) -> str:
    if entry is None:
        return ""
    values = {name: value if name in members else NOT_SHOWN for name, value in entry.items()}
    return EDITORS[change.path.suffix].member(change.keys, values)


def write(change: Change) -> None:
    """Carry out a change, unless the file is not what it was."""
    if change.after is None:
        return
    try:
        if change.path.is_symlink() and not change.real.parent.exists():
            raise Trouble(f"{change.path} is a link into {change.real.parent}, which does not exist.")
        _check(change)
        _write(change, change.real, change.after)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Trouble(f"{change.path} cannot be written: {reason}.") from error


def _write(change: Change, target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if change.before is None:
        _swap(change, target, content, known=None)
        return
    # To replace a file asks only the folder for leave, but who made it read-only meant the file.
    if not os.access(target, os.W_OK):
        raise Trouble(f"{change.path} is read-only.")
    known = target.stat()
    # A file with a second name, or of somebody else, would lose that if a new one took its place.
    if known.st_nlink > 1 or known.st_uid != getattr(os, "geteuid", lambda: known.st_uid)():
        _overwrite(change, target, content)
        return
    try:
        _swap(change, target, content, known=known)
    except OSError as error:
        if error.errno not in NO_SWAP:
            raise
        _overwrite(change, target, content)


def _swap(change: Change, target: Path, content: bytes, *, known: os.stat_result | None) -> None:
    """Write a file beside it and give it the name in one step, so that nobody ever reads half of it."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if known is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if known is not None:
            _liken(beside, target, known)
        _check(change)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _liken(beside: Path, target: Path, known: os.stat_result) -> None:
    """Give a new file the group, the attributes and the mode of the old one; raises OSError where that is refused."""
    if beside.stat().st_gid != known.st_gid:
        os.chown(beside, -1, known.st_gid)
    if sys.platform == "linux":
        # Access lists are among them. A new file has some of its own where its folder says so.
        wanted, given = _attributes(target), _attributes(beside)
        for name in given.keys() - wanted.keys():
            os.removexattr(beside, name)
        for name, value in wanted.items() - given.items():
            os.setxattr(beside, name, value)
    beside.chmod(stat.S_IMODE(known.st_mode))


def _attributes(path: Path) -> dict[str, bytes]:
    if sys.platform != "linux":
        return {}
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}


def _overwrite(change: Change, target: Path, content: bytes) -> None:
    """Write into the file itself; what cannot be written to its end is taken back."""
    _check(change)
    with target.open("r+b", buffering=0) as file:
        try:
            if file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            file.truncate()
        except OSError:
            file.seek(0)
            file.write(change.before or b"")
            file.truncate()
            raise


def _check(change: Change) -> None:
    if _real(change.path) != change.real or _bytes(change.path) != change.before:
        raise Trouble(f"{change.path} was changed by something else meanwhile. Run the command again.")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _bytes(path: Path) -> bytes | None:
    try:
        if path.exists() and not path.is_file():
            raise Trouble(f"{path} is no file.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror}.") from error


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Every fault of the text in the words for a person."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise Trouble(f"{path} is not UTF-8: byte {error.start + 1} is wrong.") from error
    except UnicodeEncodeError as error:
        raise Trouble(f"{path}: the command or the project has a name that is no valid text.") from error
    except RecursionError as error:
        raise Trouble(f"{path} is nested too deeply.") from error
    except ValueError as error:
        raise Trouble(f"{path} was not changed: {safe(str(error))}.") from error


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8").removeprefix(BYTE_ORDER_MARK)


def _encoded(text: str, before: bytes | None) -> bytes:
    marked = (before or b"").startswith(BYTE_ORDER_MARK.encode())
    return ((BYTE_ORDER_MARK if marked else "") + text).encode("utf-8")


def _inner(values: Any, keys: Sequence[str]) -> Entry | None:
    """The table at this path of keys, if there is one."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values if isinstance(values, Mapping) else None


def _with(values: Any, keys: Sequence[str], entry: Entry) -> dict[str, Any]:
    key, *rest = keys
    inner = values.get(key, {})
    return {**values, key: _with(inner, rest, entry) if rest else entry}


def _pruned(values: Any, keys: Sequence[str]) -> Any:
    """These values without the entry, and without a table that holds nothing else."""
    key, *rest = keys
    if not isinstance(values, Mapping) or key not in values:
        return values
    inner = _pruned(values[key], rest) if rest else {}
    return {**values, key: inner} if inner else {name: each for name, each in values.items() if name != key}
