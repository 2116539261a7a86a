"""What a call can leave behind, and how it is found."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.process.run_folder import PREFIX


@dataclass(frozen=True)
class Footprint:
    """What a server holds on to. Between two calls it must not grow."""

    descriptors: int
    threads: int
    processes: int
    folders: int
    # Those that wait for the next call: a supervisor's two processes and its child, or none. They are replaced, not
    # added to.
    spare: int

    def fits(self, other: "Footprint") -> bool:
        return self.is_no_more_than(other) and self.spare == other.spare

    def is_no_more_than(self, other: "Footprint") -> bool:
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


def waiting(temporary: Path) -> dict[int, Path]:
    """Processes of children that were started ahead, and their folders: those in which there is no job yet."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            folders = [Path(word) for word in arguments if word.startswith(f"{temporary}/{PREFIX}")]
            if folders and folders[0].is_dir() and not (folders[0] / "job.json").exists():
                found[int(entry.name)] = folders[0]
    return found


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] == "T"
