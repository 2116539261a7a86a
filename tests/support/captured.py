import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def captured(command: Sequence[str | Path], **settings: Any) -> "subprocess.CompletedProcess[str]":
    """A program that was run to its end, without input: its exit code and what it has printed."""
    nothing = subprocess.DEVNULL
    return subprocess.run(command, stdin=nothing, capture_output=True, encoding="utf-8", check=False, **settings)
