"""The real git, with an identity of its own."""

import subprocess
from pathlib import Path

IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid", "-c", "protocol.file.allow=always")


def git(*arguments: str | Path, cwd: Path) -> None:
    output(*arguments, cwd=cwd)


def commit_all(folder: Path) -> None:
    """Everything in this folder, which becomes a repository if it is none."""
    git("init", "--quiet", "--initial-branch=main", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--allow-empty", "-m", "a commit", cwd=folder)


def output(*arguments: str | Path, cwd: Path) -> str:
    command = ["git", *IDENTITY, *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()
