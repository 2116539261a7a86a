"""A virtual environment as files show it, without starting its Python."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from pytest_mcp.python import files

# What a project's own environment is called. New ones get the first name.
FOLDERS = (".venv", "venv")
SETTINGS = "pyvenv.cfg"
_MAX_SETTINGS = 64 * 1024
_NUMBER = re.compile(r"\d{1,9}")


def python(prefix: Path) -> Path:
    return prefix / "bin" / "python"


def prefix_of(python: Path) -> Path:
    """The environment that this Python belongs to. Symlinks are not resolved: they lead to the base Python."""
    return python.parent.parent


def is_environment(prefix: Path) -> bool:
    return files.holds((prefix / SETTINGS).is_file) or is_condas(prefix)


def is_condas(prefix: Path) -> bool:
    return files.holds((prefix / "conda-meta").is_dir)


def is_in(folder: Path) -> bool:
    """Whether the folder has one by a usual name."""
    return any(is_environment(folder / name) for name in FOLDERS)


def starts(prefix: Path) -> bool:
    """Whether its Python exists: it may be a dangling symlink."""
    return files.holds(python(prefix).is_file) and os.access(python(prefix), os.X_OK)


def packages(prefix: Path) -> list[Path]:
    """Debian's own Python has dist-packages."""
    return files.matching(prefix, "lib/python*/*-packages")


def has(prefix: Path, package: str) -> bool:
    return any(files.holds((folder / package).is_dir) for folder in packages(prefix))


def version_of(prefix: Path, package: str) -> str | None:
    """The version of an installed package, as its metadata is named."""
    paths = [path for folder in packages(prefix) for path in files.matching(folder, f"{package}-*.dist-info")]
    return paths[0].name.removeprefix(f"{package}-").removesuffix(".dist-info") if paths else None


def python_version(prefix: Path) -> str | None:
    return ".".join(map(str, _version(prefix))) or None


def newest_first(prefixes: Iterable[Path]) -> list[Path]:
    """By version of Python, then by name."""
    return sorted(sorted(prefixes), key=_version, reverse=True)


def settings(prefix: Path) -> dict[str, str]:
    """The lines of pyvenv.cfg, in lower case."""
    pairs = [line.partition("=") for line in files.text(prefix / SETTINGS, _MAX_SETTINGS).splitlines()]
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _version(prefix: Path) -> tuple[int, ...]:
    """Some tools write `version`, others `version_info`."""
    written = settings(prefix)
    numbers = _NUMBER.findall(written.get("version") or written.get("version_info", ""))
    return tuple(map(int, numbers[:3]))
