"""How commands are measured: from the start of the process to its end, for a run of one test.

The rows are in `rows`.
"""

import subprocess
import time
from pathlib import Path

from bench.measures import BARE, ONE, OURS, PYTEST, compared
from bench.projects import Suite
from bench.results import Measurement
from bench.rounds import race
from bench.servers import PROGRAM
from bench.shell import ENVIRONMENT, Shell, Wrong


def whole(folder: Path, rounds: int, *words: str) -> Measurement:
    """A command that runs one test, against pytest that runs it."""
    shell = Shell(BARE.python, ONE.write(folder))
    return compared(
        race({OURS: lambda: _timed(shell, ONE, words), PYTEST: lambda: shell.run(ONE)}, rounds=rounds), PYTEST
    )


def _timed(shell: Shell, suite: Suite, words: tuple[str, ...]) -> float:
    command = [str(PROGRAM), f"--root={shell.project}", f"--python={shell.python}", *words]
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=shell.project, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    seconds = time.perf_counter() - started
    if done.returncode != suite.exit_code:
        raise Wrong(f"{words[0]} exited with {done.returncode}, not {suite.exit_code}: {done.stderr[-500:]!r}")
    return seconds
