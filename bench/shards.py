"""How shards are measured: several at once with their merge, and one shard of a large suite.

The rows are in `rows`.
"""

import json
import subprocess
import time
from pathlib import Path

from bench.measures import BARE, PYTEST
from bench.projects import Suite
from bench.results import Figure, Measurement
from bench.rounds import Sample, race
from bench.servers import MAX_CALL, PROGRAM
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


def _shard(shell: Shell, index: int, count: int) -> list[str | Path]:
    settings: list[str | Path] = [
        PROGRAM,
        f"--root={shell.project}",
        f"--python={shell.python}",
        f"--timeout={MAX_CALL}",
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
