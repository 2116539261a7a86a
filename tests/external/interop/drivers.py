"""A driver in its client's environment: a job in, what it told out, by step."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from scripts.environments import ENVIRONMENTS, INTEROP
from scripts.npm import PACKAGES, node
from tests.external.interop import project
from tests.external.interop.answers import Answer
from tests.support.projects.project_files import write_files
from tests.support.protocol import servers
from tests.support.waiting import PATIENCE

CLIENTS = Path(__file__).with_name("clients")
TYPESCRIPT = PACKAGES["interop-typescript"]
# Every step may take as long as anything may.
DRIVER_SECONDS = 4 * PATIENCE

Wire = Literal["stdio", "http"]
Era = Literal["legacy", "modern"]


@dataclass(frozen=True)
class Way:
    """A client and how it reaches the server."""

    client: str
    wire: Wire
    era: Era
    # Python's environment; None is the one that runs these tests, which has the newest SDK.
    environment: str | None = None
    # Whether the server hears of it when a call is cancelled.
    cancels: bool = True

    def __str__(self) -> str:
        return f"{Path(self.client).stem}-{self.wire}-{self.era}"

    @property
    def program(self) -> list[str]:
        script = str(CLIENTS / self.client)
        if script.endswith(".mjs"):
            return [str(node()), script]
        python = sys.executable if self.environment is None else (ENVIRONMENTS | INTEROP)[self.environment].python
        return [str(python), script]

    def skip_if_missing(self) -> None:
        needed = TYPESCRIPT if self.client.endswith(".mjs") else (ENVIRONMENTS | INTEROP).get(self.environment or "")
        if needed is not None and not needed.is_complete:
            pytest.skip(f".envs/{needed.name} is not there; `make interop` makes it")


def driven(way: Way, root: Path, flags: Sequence[str] = ()) -> dict[str, Answer]:
    way.skip_if_missing()
    write_files(root, project.FILES)
    # Without plugins, which would take longer than all the rest.
    python = ENVIRONMENTS["demo"].python
    job = {"era": way.era, "packages": str(TYPESCRIPT.folder), "steps": project.steps(root, cancelling=way.cancels)}
    if way.wire == "stdio":
        return _told(way, {**job, "url": None, "command": servers.command(root, python, *flags)})
    with servers.serving(root, python, *flags) as url:
        return _told(way, {**job, "url": url, "command": None})


def _told(way: Way, job: dict[str, Any]) -> dict[str, Answer]:
    done = subprocess.run(
        way.program, input=json.dumps(job), capture_output=True, text=True, check=False, timeout=DRIVER_SECONDS
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = {line.pop("step"): line for line in map(json.loads, done.stdout.splitlines())}
    assert [*told] == [step["name"] for step in job["steps"]]
    return told
