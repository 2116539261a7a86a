"""pytest's output in a shell, for the commands that people and agents use."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.servers import MAX_CALL
from bench.shell import ENVIRONMENT, Wrong

WAYS = {
    "pytest": (),
    "pytest -q": ("-q",),
    "pytest -q --tb=short": ("-q", "--tb=short"),
    "pytest -v": ("-v",),
}


@dataclass(frozen=True)
class Typed:
    """The arguments after the flags, and pytest's exit code for them."""

    arguments: tuple[str, ...]
    exit_code: int

    def printed(self, flags: tuple[str, ...], python: Path, project: Path) -> str:
        """Both streams, as on a terminal, because pytest reports a wrong argument on stderr only."""
        done = subprocess.run(
            [python, "-m", "pytest", *flags, *self.arguments],
            cwd=project,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=MAX_CALL,
            check=False,
        )
        text = done.stdout.decode(errors="replace")
        if done.returncode != self.exit_code:
            raise Wrong(f"pytest exited with {done.returncode}, not {self.exit_code}: {text[-500:]}")
        return text

    def transcripts(self, python: Path, project: Path) -> dict[str, str]:
        return {way: self.printed(flags, python, project) for way, flags in WAYS.items()}
