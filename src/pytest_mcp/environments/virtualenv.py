"""An environment as it lies on disk.

In comes its folder; out comes what can be seen without starting its Python: where that is, its version, what is
installed, what made it. Whether it can run tests is known only when it does.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from pytest_mcp.environments import files

SETTINGS = "pyvenv.cfg"
# A dozen lines.
_MOST_SETTINGS = 64 * 1024
_EXECUTABLE = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")
# venv and virtualenv write `version`, uv writes `version_info`; what follows the three numbers does not matter.
_VERSION = re.compile(r"(?m)^version(?:_info)? *= *(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")
_VERSION_OF_PIP = re.compile(r"pip-(\d{1,9})\.(\d{1,9})")


def python(prefix: Path) -> Path:
    return prefix / _EXECUTABLE


def of(python: Path) -> Path:
    """The folder of the environment that this Python belongs to. No link is followed: the link is what counts."""
    return python.parent.parent


def is_environment(prefix: Path) -> bool:
    return files.holds((prefix / SETTINGS).is_file)


def is_there(path: Path) -> bool:
    return files.holds(path.exists)


def is_conda(prefix: Path) -> bool:
    return files.holds((prefix / "conda-meta").is_dir)


def starts(prefix: Path) -> bool:
    """Whether its Python is there at all: it may be a link to one that is gone."""
    return files.holds(python(prefix).is_file) and os.access(python(prefix), os.X_OK)


def packages(prefix: Path) -> list[Path]:
    try:
        found = list(prefix.glob("lib/python*/site-packages"))
    except OSError:
        found = []
    return [*found, prefix / "Lib" / "site-packages"]


def has(prefix: Path, package: str) -> bool:
    return any(files.holds((folder / package).is_dir) for folder in packages(prefix))


def lacks_pip(prefix: Path) -> bool:
    """Only an environment with packages of its own can be seen to lack it; otherwise it may be anywhere."""
    said = _settings(prefix)
    return bool(said) and said.get("include-system-site-packages") != "true" and not has(prefix, "pip")


def version_of_pip(prefix: Path) -> tuple[int, int] | None:
    found = [_VERSION_OF_PIP.match(path.name) for folder in packages(prefix) for path in folder.glob("pip-*.dist-info")]
    return next(((int(match[1]), int(match[2])) for match in found if match), None)


def is_made_by_uv(prefix: Path) -> bool:
    return "uv" in _settings(prefix)


def newest_first(prefixes: Iterable[Path]) -> list[Path]:
    """By the version of Python; those of one version by name."""
    return sorted(sorted(prefixes), key=_version, reverse=True)


def _settings(prefix: Path) -> dict[str, str]:
    pairs = [line.partition("=") for line in _said(prefix).splitlines()]
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _version(prefix: Path) -> tuple[int, ...]:
    found = _VERSION.search(_said(prefix))
    return tuple(int(number or 0) for number in found.groups()) if found else ()


def _said(prefix: Path) -> str:
    return files.text(prefix / SETTINGS, _MOST_SETTINGS)
