"""How many cores this process may use: those of its affinity, and no more than its control groups allow.

A container with two of sixty-four cores sees all of them and is slowed down when it uses more than two. This is read
before the client's first answer, so it imports no more than the settings do.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path


def usable(root: Path = Path("/")) -> int:
    """At least one. `root` is where /proc and /sys are."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, *(math.ceil(limit) for limit in _limits(root)), allowed))


def _limits(root: Path) -> Iterator[float]:
    """In cores. A group is limited by all groups above it; those outside of its container it cannot see."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _number, controllers, path = line.split(":", 2)
        mounted = root / "sys/fs/cgroup"
        if "cpu" in controllers.split(","):
            mounted /= controllers if (mounted / controllers).is_dir() else "cpu"
        elif controllers:
            continue
        group = mounted / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(mounted):
                yield from _limit(folder)


def _limit(group: Path) -> Iterator[float]:
    # Version 2 has both numbers in one file, version 1 has a file for each. `max` and -1 are no limit.
    words = _text(group / "cpu.max") or " ".join(_text(group / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    match words.split():
        case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period) > 0:
            yield int(quota) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
