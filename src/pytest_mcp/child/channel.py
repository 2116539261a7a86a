"""The private way back to the server: one JSON record per line, appended to a file the server opened.

Tests may close every descriptor, fork, and patch half the standard library. So a writer keeps what
it needs in closures made before any test code is loaded, checks that its descriptor is still the
report file and reopens it by path when it is not, and stays silent in forked children.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable

Emit = Callable[..., bool]


def open_channel(path: str) -> Emit:
    """Return `emit(kind, **fields)`, which writes one whole record and says whether it could."""
    encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str).encode
    os_open, os_write, os_fstat, os_getpid = os.open, os.write, os.fstat, os.getpid
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    owner = os_getpid()
    descriptor = os_open(path, flags)
    opened = os_fstat(descriptor)
    identity = (opened.st_dev, opened.st_ino)
    state = {"descriptor": descriptor, "sequence": 0}

    def usable_descriptor() -> int:
        try:
            now = os_fstat(state["descriptor"])
            if (now.st_dev, now.st_ino) == identity:
                return state["descriptor"]
        except OSError:
            pass
        state["descriptor"] = os_open(path, flags)
        return state["descriptor"]

    def write_whole(data: bytes) -> None:
        target = usable_descriptor()
        while data:
            data = data[os_write(target, data) :]

    def emit(kind: str, **fields: Any) -> bool:
        if os_getpid() != owner:
            return False
        try:
            line = encode({"k": kind, "n": state["sequence"] + 1, **fields})
            # Counted from here on: a record that cannot be written leaves a gap that the server sees.
            state["sequence"] += 1
            # The newline in front keeps a record whole after a half-written one.
            write_whole(("\n" + line + "\n").encode("ascii"))
            return True
        except Exception:  # noqa: BLE001 - a reporter must never raise into pytest
            return False

    return emit
