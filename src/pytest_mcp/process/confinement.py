"""The sandbox that this process is in: what it tried to write and reach, and what came of it.

Its settings are out of sight in there, so nothing is read from them. Runs are in the same sandbox.
"""

import functools
import os
import re
import socket
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

# An address that belongs to nobody (RFC 5737). To connect a datagram socket sends nothing, but asks for a route.
_NOWHERE = ("192.0.2.1", 9)
_LOCAL_PROXY = re.compile(r"@?(?:localhost|127\.0\.0\.1|\[::1\]):\d+/?$")


class SandboxLimits(NamedTuple):
    by: str
    writable: tuple[str, ...]
    # Can be written, but is in memory and gone with the sandbox.
    lost: tuple[str, ...]
    network: Literal["open", "proxy", "none"]
    unix_sockets: bool


@functools.cache
def confinement(root: Path) -> SandboxLimits | None:
    """None where no sandbox is known."""
    is_srt = "SANDBOX_RUNTIME" in os.environ
    if not (is_srt or _first_process() == "bwrap"):
        return None
    mounts = _mounts()
    # A user without a home is `~` here, where nothing can be written; pathlib would raise.
    tried = [str(root), tempfile.gettempdir(), os.path.expanduser("~")]  # noqa: PTH111
    writable = [folder for folder in dict.fromkeys(tried) if _can_write(folder)]
    lost = [folder for folder in writable if _kind(folder, mounts) == "tmpfs" and folder != tempfile.gettempdir()]
    return SandboxLimits(
        "srt" if is_srt else "bubblewrap",
        tuple(folder for folder in writable if folder not in lost),
        tuple(lost),
        "proxy" if _LOCAL_PROXY.search(os.environ.get("HTTP_PROXY", "")) else "open" if _has_route() else "none",
        _has_unix_sockets(),
    )


def _first_process() -> str:
    try:
        return Path("/proc/1/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _mounts() -> dict[str, str]:
    """The kind of file system at each place: the last that is mounted there is the one that is seen."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    return {words[1]: words[2] for words in map(str.split, lines)}


def _kind(folder: str, mounts: dict[str, str]) -> str | None:
    return next((mounts[str(each)] for each in (Path(folder), *Path(folder).parents) if str(each) in mounts), None)


def _can_write(folder: str) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _has_route() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        return datagrams.connect_ex(_NOWHERE) == 0


def _has_unix_sockets() -> bool:
    try:
        socket.socket(socket.AF_UNIX).close()
    except OSError:
        return False
    return True
