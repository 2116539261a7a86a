"""A settings file of another program: read, changed in one entry, compared, written whole or not at all.

In come a path, a path of keys and an entry; out comes a `Change`, which `write` carries out. What cannot be
done raises `Trouble` and leaves the file as it was. Which file it is and what the entry says is decided by others.
"""

import contextlib
import difflib
import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pytest_mcp import jsonc, toml
from pytest_mcp.text import safe

BYTE_ORDER_MARK = "\ufeff"
# Lines shown around a change. One is enough to find the place; more would show the neighbours' secrets.
CONTEXT_LINES = 1

# The folder takes no new files, or the file is mounted on its own: it can still be written into.
NO_SWAP = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})

Entry = Mapping[str, Any]


class Trouble(Exception):
    """Why a file was left alone; the message is one sentence for a person."""


class Editor(Protocol):
    """What the module of a format can do."""

    def read(self, text: str) -> dict[str, Any]: ...
    def put(self, text: str, keys: Sequence[str], value: Entry) -> str: ...
    def drop(self, text: str, keys: Sequence[str]) -> str: ...


EDITORS: Mapping[str, Editor] = {".json": jsonc, ".jsonc": jsonc, ".toml": toml}


@dataclass(frozen=True)
class Change:
    """What a file holds now and what it shall hold; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_one(self) -> bool:
        return self.before != self.after


def table(path: Path, keys: Sequence[str]) -> Mapping[str, Any]:
    """What the file has at this path of keys; nothing where there is no table."""
    with _told(path):
        inner: Any = EDITORS[path.suffix].read(_text(_bytes(path)))
        for key in keys:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


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
        return Change(path, before, _encoded(new, before))


def removed(path: Path, keys: Sequence[str], skeleton: str = "") -> Change:
    """The file without this entry; none where nothing is left but the skeleton."""
    before = _bytes(path)
    if before is None:
        return Change(path, None, None)
    editor = EDITORS[path.suffix]
    with _told(path):
        old = _text(before)
        new = editor.drop(old, keys)
        if _pruned(editor.read(new), keys) != _pruned(editor.read(old), keys):
            raise ValueError("it is written in a way that cannot be changed safely")
        gone = new != old and (not new.strip() or new == skeleton)
        return Change(path, before, None if gone else _encoded(new, before))


def sample(path: Path, keys: Sequence[str], entry: Entry) -> str:
    """The entry as such a file would hold it, to be copied by hand."""
    return safe(EDITORS[path.suffix].put("", keys, entry))


def difference(change: Change) -> str:
    """The change as a unified diff, safe to print."""
    old, new = ("/dev/null" if content is None else str(change.path) for content in (change.before, change.after))
    lines = difflib.unified_diff(_lines(change.before), _lines(change.after), old, new, n=CONTEXT_LINES, lineterm="")
    return safe("\n".join(lines))


def write(change: Change, *, keep: Path) -> None:
    """Carry out a change, unless the file is not what it was. Empty folders below `keep` go with the last file."""
    try:
        target = change.path.resolve()
        if change.path.is_symlink() and not target.parent.exists():
            raise Trouble(f"{change.path} is a link into {target.parent}, which does not exist.")
        _check(change)
        if change.after is not None:
            _write(change, target, change.after)
            return
        target.unlink()
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Trouble(f"{change.path} cannot be written: {reason}.") from error
    if keep in target.parents:
        with contextlib.suppress(OSError):  # the first one that holds something else
            for folder in target.parents[: target.parents.index(keep)]:
                folder.rmdir()


def _write(change: Change, target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if change.before is None:
        _swap(change, target, content, mode=None)
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
        _swap(change, target, content, mode=stat.S_IMODE(known.st_mode))
    except OSError as error:
        if error.errno not in NO_SWAP:
            raise
        _overwrite(change, target, content)


def _swap(change: Change, target: Path, content: bytes, *, mode: int | None) -> None:
    """Write a file beside it and give it the name in one step, so that nobody ever reads half of it."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            beside.chmod(mode)
        _check(change)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


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
    if _bytes(change.path) != change.before:
        raise Trouble(f"{change.path} was changed by something else meanwhile. Run the command again.")


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


def _lines(content: bytes | None) -> list[str]:
    if not content:
        return []
    # Split at line feeds alone, as every other diff does.
    *lines, last = content.decode("utf-8").split("\n")
    shown = [line.removesuffix("\r") for line in lines]
    return [*shown, f"{last}\n\\ No newline at end of file"] if last else shown


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
