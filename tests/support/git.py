"""The real git, with an identity of its own."""

import subprocess
from pathlib import Path

IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid", "-c", "protocol.file.allow=always")


def git(*arguments: str | Path, cwd: Path) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=cwd, check=True, capture_output=True)
