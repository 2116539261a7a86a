"""An environment as it lies on disk: a folder with a Python in it and a file that tells its version.

In come such folders; out come the paths of their Pythons, and their order. Whether one can run tests is not known here.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

SETTINGS = "pyvenv.cfg"
_EXECUTABLE = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")
# venv and virtualenv write `version`, uv writes `version_info`; what follows the three numbers does not matter.
_VERSION = re.compile(r"(?m)^version(?:_info)? *= *(\d+)\.(\d+)(?:\.(\d+))?")


def python(prefix: Path) -> Path:
    return prefix / _EXECUTABLE


def is_environment(prefix: Path) -> bool:
    return is_there(prefix / SETTINGS)


def is_there(path: Path) -> bool:
    """Also for what no file system could hold: such paths come from files that anyone may have written."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def newest_first(prefixes: Iterable[Path]) -> list[Path]:
    """By the version of Python; those of one version by name."""
    return sorted(sorted(prefixes), key=_version, reverse=True)


def _version(prefix: Path) -> tuple[int, ...]:
    try:
        found = _VERSION.search((prefix / SETTINGS).read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        found = None
    return tuple(int(number or 0) for number in found.groups()) if found else ()
