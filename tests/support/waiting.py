"""Waiting for what must become true, with a limit; and seeing which processes are there."""

from collections.abc import Callable, Iterator
from pathlib import Path

import anyio

# Longer than anything takes on a busy machine: waiting ends with its condition, not with this.
PATIENCE = 60
# Limits for a call on a project that hangs on purpose. On a busy machine the first may pass before pytest gets there.
LIMITS = (1, 6, 36)


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.02)


def limits_until(reached: Path) -> Iterator[int]:
    """Larger and larger time limits, until one was enough for the project to create this file."""
    for limit in LIMITS:
        yield limit
        if reached.exists():
            return
    raise AssertionError(f"not reached within {LIMITS[-1]} s: {reached}")


def processes_in(folder: Path) -> list[int]:
    """Every process whose working directory lies in this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink().is_relative_to(folder) and "Z" not in _state(entry):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _state(entry: Path) -> str:
    return (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
