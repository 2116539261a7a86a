"""What a call can leave behind, and how it is found."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Footprint:
    """What a server holds on to. Between two calls it must not grow."""

    descriptors: int
    threads: int
    processes: int
    folders: int

    def fits(self, other: "Footprint") -> bool:
        return all(getattr(self, name) <= getattr(other, name) for name in self.__dataclass_fields__)


def given(temporary: str) -> set[int]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if temporary.encode() in (entry / "environ").read_bytes():
                found.add(int(entry.name))
    return found


def children(parent: int) -> set[int]:
    """Zombies too: one that nobody has waited for is left as well."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.add(int(entry.name))
    return found


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
