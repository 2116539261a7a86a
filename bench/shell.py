"""pytest as a person or an agent would start it in a shell: the other side of every ratio."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.projects import Suite

# The environment of both sides. Nothing in it changes pytest or Python's bytecode.
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": os.environ.get("HOME", os.sep),
    "LANG": "C.UTF-8",
}


class Wrong(Exception):
    """A wrong exit code or answer; its time would mean nothing."""


@dataclass(frozen=True)
class Shell:
    python: Path
    project: Path

    def run(self, suite: Suite, *flags: str) -> float:
        """Seconds from the start of the process to the end of its output."""
        exit_code = 0 if "--collect-only" in flags else suite.exit_code
        started = time.perf_counter()
        done = subprocess.run(
            [self.python, "-m", "pytest", "-q", *flags],
            cwd=self.project,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        seconds = time.perf_counter() - started
        if done.returncode != exit_code:
            raise Wrong(f"pytest exited with {done.returncode}, not {exit_code}: {done.stdout[-500:]!r}")
        return seconds
