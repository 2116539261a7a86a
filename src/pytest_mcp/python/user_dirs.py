"""The folders of a user for settings, caches and data, as programs find them.

They need not exist. Each manager knows what it keeps in them.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Literal

FolderKind = Literal["config", "cache", "data"]

_ON_MACOS = sys.platform == "darwin"
# kind → the variable that names its folder, and the default in the home: on Linux, on macOS.
_FOLDERS: Mapping[FolderKind, tuple[str, str, str]] = {
    "config": ("XDG_CONFIG_HOME", ".config", "Library/Application Support"),
    "cache": ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
    "data": ("XDG_DATA_HOME", ".local/share", "Library/Application Support"),
}
# Where a user's own programs are, in the home.
PROGRAMS = ".local/bin"


def home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment.get("HOME") or Path.home())
    except RuntimeError:
        # Users in containers often have no home.
        return Path("/")


def folder(kind: FolderKind, environment: Mapping[str, str]) -> Path:
    variable, on_linux, on_macos = _FOLDERS[kind]
    chosen = environment.get(variable, "")
    return expanded(chosen, environment) if chosen else home(environment) / (on_macos if _ON_MACOS else on_linux)


def runtime(environment: Mapping[str, str]) -> Path:
    """A folder for what is of no use to the next session. Where there is none, that for caches."""
    for given in (environment.get("XDG_RUNTIME_DIR"), f"/run/user/{os.geteuid()}"):
        with suppress(OSError):
            if given and Path(given).stat().st_uid == os.geteuid() and os.access(given, os.W_OK | os.X_OK):
                return Path(given)
    return folder("cache", environment)


def expanded(text: str, environment: Mapping[str, str]) -> Path:
    """A path with `~` and `$NAME` expanded."""
    written = Template(text).safe_substitute(environment)
    if written == "~" or written.startswith("~/"):
        return home(environment) / written[2:]
    return Path(written)


def search_path(environment: Mapping[str, str]) -> str:
    """PATH and the folder of a user's own programs. A client may start the server with a PATH that lacks it."""
    return os.pathsep.join([environment.get("PATH", ""), str(home(environment) / PROGRAMS)])


def mark(folder: str) -> str:
    """Eight characters in the names of environments that tell projects of one name apart."""
    # Only two managers need them.
    import base64  # noqa: PLC0415
    import hashlib  # noqa: PLC0415

    digest = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii")[:8]
