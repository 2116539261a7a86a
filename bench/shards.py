"""How shards are measured: several at once with their merge, and one shard of a large suite.

In come a new folder, sizes and a number of rounds; out come figures. The rows are in `rows`.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from bench import kernel
from bench.measures import BARE, PYTEST, megabytes, sized
from bench.projects import Suite
from bench.results import Figure, Measurement
from bench.rounds import Sample, race
from bench.servers import LONGEST_CALL, PROGRAM
from bench.shell import ENVIRONMENT, Shell, Wrong


def at_once(folder: Path, suite: Suite, count: int, rounds: int) -> Measurement:
    """This many shards at once, and their merge."""
    shell = Shell(BARE.python, suite.write(folder))
    name = f"{count} shards and merge"
    variants: dict[str, Sample] = {
        name: lambda: _merged(shell, suite, count),
        PYTEST: lambda: shell.run(suite),
    }
    done = race(variants, rounds=rounds, warm_up=lambda: shell.run(suite, "--collect-only"))
    figures = tuple(Figure(each, "s", done.count, done.spread(each)) for each in variants)
    return Measurement(figures, done.ratio(name, PYTEST))


def one_of(folder: Path, sizes: Iterable[int], count: int, rounds: int) -> Measurement:
    """The first of this many shards, of large suites: it collects all tests and runs its share."""
    figures: list[Figure] = []
    for size in sizes:
        suite = Suite(size)
        figures += _first(Shell(BARE.python, suite.write(folder / str(size))), suite, count, rounds)
    return Measurement(tuple(figures))


def _first(shell: Shell, suite: Suite, count: int, rounds: int) -> list[Figure]:
    peaks: list[float] = []
    name = f"one of {count} shards"

    def shard() -> float:
        # This process has no other descendants at that time.
        with kernel.watched(os.getpid()) as seen:
            seconds = _timed(_shard(shell, 1, count))
        peaks.append(seen.child)
        return seconds

    variants: dict[str, Sample] = {name: shard, PYTEST: lambda: shell.run(suite)}
    done = race(variants, rounds=rounds, warm_up=lambda: shell.run(suite, "--collect-only"))
    return [*sized(done, suite.tests), megabytes(f"{name}: peak of its child", peaks, suite.tests)]


def _shard(shell: Shell, index: int, count: int) -> list[str | Path]:
    settings: list[str | Path] = [
        PROGRAM,
        f"--root={shell.project}",
        f"--python={shell.python}",
        f"--timeout={LONGEST_CALL}",
    ]
    return [*settings, "run", "--json", f"--shard={index}/{count}"]


def _merged(shell: Shell, suite: Suite, count: int) -> float:
    started = time.perf_counter()
    commands = [_shard(shell, index, count) for index in range(1, count + 1)]
    running = [subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE) for command in commands]
    lines = b"".join(shard.communicate()[0] for shard in running)
    merge: list[str | Path] = [PROGRAM, "merge", "--json", "-"]
    done = subprocess.run(merge, env=ENVIRONMENT, input=lines, stdout=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - started
    if json.loads(done.stdout)["summary"]["passed"] != suite.tests:
        raise Wrong(f"the shards are not the suite: {done.stdout[:500]!r}")
    return seconds


def _timed(command: list[str | Path]) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise Wrong(f"a shard exited with {done.returncode}: {done.stdout[:500]!r}")
    return seconds
