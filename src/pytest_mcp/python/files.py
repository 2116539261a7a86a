"""Read files of a project with limits, since a repository may contain pipes, devices, cycles or huge files.

Nothing here blocks or raises: text is empty if it is no regular file, not readable or too long. A TOML file that cannot
be parsed counts as empty, and so do values of a wrong type: the tool that owns the file will report the error.
"""

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

# Settings files are far smaller.
MAX_BYTES = 512 * 1024
# In one folder.
MAX_ENTRIES = 2_000
# Parsing this much takes half a second; real files are far smaller.
MAX_TOML = 256 * 1024
# Parsing a dotted key takes quadratic time in its parts, and real keys have few.
# The possessive quantifiers keep this search itself linear.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")

PACKAGE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# Resolved path, modification time, size and inode; None if there is no such file.
Stamp = tuple[str, int, int, int] | None


def text(path: Path, most: int = MAX_BYTES) -> str:
    try:
        # Opening a pipe would block.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
            return ""
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return sorted(Path(entry) for entry in islice(entries, MAX_ENTRIES) if entry.is_dir())
    except (OSError, ValueError):
        return []


def matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(islice(folder.glob(pattern), MAX_ENTRIES))
    except (OSError, ValueError):
        return []


def upward(folder: Path, last: Path) -> Iterator[Path]:
    """The folder and its parents up to `last`."""
    for place in (folder, *folder.parents):
        yield place
        if place == last:
            return


def holds(question: Callable[[], bool]) -> bool:
    """False if the check raises (permission, symlink loop, bad name)."""
    try:
        return question()
    except (OSError, ValueError, RuntimeError):
        return False


def stamped(paths: Iterable[Path]) -> dict[Path, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> Stamp:
    try:
        real = path.resolve(strict=True)
        facts = real.stat()
    except (OSError, RuntimeError, ValueError):
        return None
    return str(real), facts.st_mtime_ns, facts.st_size, facts.st_ino


@dataclass(frozen=True)
class Manifest:
    folder: Path
    pyproject: Mapping[str, Any]

    def table(self, *names: str) -> Mapping[str, Any]:
        """A table of pyproject.toml; empty if it is missing."""
        return table(self.pyproject, *names)


def read_manifest(folder: Path) -> Manifest:
    return Manifest(folder, toml(folder / "pyproject.toml"))


def toml(path: Path) -> Mapping[str, Any]:
    content = text(path, MAX_TOML)
    if _LONG_KEY.search(content):
        return {}
    try:
        return tomllib.loads(content)
    except (ValueError, RecursionError):
        return {}


def table(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return {}
        values = inner
    return values


def strings(values: object) -> list[str]:
    """The strings in a list; empty if it is no list."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def package_names(listed: object) -> frozenset[str]:
    """The normalised names in a list of requirements, or in a table that has them as keys."""
    items = list(listed) if isinstance(listed, Mapping) else strings(listed)
    matches = [PACKAGE_NAME.match(item.strip()) for item in items]
    return frozenset(re.sub(r"[-_.]+", "-", match[0]).lower() for match in matches if match)
