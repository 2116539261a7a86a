"""A virtual environment as files show it, without starting its Python.

In comes its folder; out come the path and version of its Python and whether a package is installed. Whether it can run
tests is known only when it does.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from pytest_mcp.python import files

# What a project's own environment is called. New ones get the first name.
FOLDERS = (".venv", "venv")
SETTINGS = "pyvenv.cfg"
_MOST_SETTINGS = 64 * 1024
_EXECUTABLE = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")
# Some tools write `version`, others `version_info`.
_VERSION = re.compile(r"(?m)^version(?:_info)? *= *(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")


def python(prefix: Path) -> Path:
    return prefix / _EXECUTABLE


def of(python: Path) -> Path:
    """The environment that this Python belongs to. Symlinks are not resolved: they lead to the base Python."""
    return python.parent.parent


def is_environment(prefix: Path) -> bool:
    return files.holds((prefix / SETTINGS).is_file)


def starts(prefix: Path) -> bool:
    """Whether its Python exists: it may be a dangling symlink."""
    return files.holds(python(prefix).is_file) and os.access(python(prefix), os.X_OK)


def packages(prefix: Path) -> list[Path]:
    try:
        found = list(prefix.glob("lib/python*/site-packages"))
    except OSError:
        found = []
    return [*found, prefix / "Lib" / "site-packages"]


def has(prefix: Path, package: str) -> bool:
    return any(files.holds((folder / package).is_dir) for folder in packages(prefix))


def version_of(prefix: Path, package: str) -> str | None:
    """The version of an installed package, as its metadata is named."""
    found = [path for folder in packages(prefix) for path in files.matching(folder, f"{package}-*.dist-info")]
    return found[0].name.removeprefix(f"{package}-").removesuffix(".dist-info") if found else None


def python_version(prefix: Path) -> str | None:
    return ".".join(map(str, _version(prefix))) or None


def newest_first(prefixes: Iterable[Path]) -> list[Path]:
    """By version of Python, then by name."""
    return sorted(sorted(prefixes), key=_version, reverse=True)


def settings(prefix: Path) -> dict[str, str]:
    """The lines of pyvenv.cfg, in lower case."""
    pairs = [line.partition("=") for line in _said(prefix).splitlines()]
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _version(prefix: Path) -> tuple[int, ...]:
    found = _VERSION.search(_said(prefix))
    return tuple(int(number or 0) for number in found.groups()) if found else ()


def _said(prefix: Path) -> str:
    return files.text(prefix / SETTINGS, _MOST_SETTINGS)
