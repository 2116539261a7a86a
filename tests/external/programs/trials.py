"""One run of a program in a project: with a home of its own, a model that stands in, and a tap on each server.

Out comes what the model was shown and what went over the wire. Everything that was started has ended by then.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.environments import ENVIRONMENTS
from tests.external.interop.project import FILES as SHARED_FILES
from tests.external.programs import tap
from tests.external.programs.dialects import Body
from tests.external.programs.models import Call, standing_in
from tests.external.programs.programs import Place, Program
from tests.support.projects.project_files import write_files
from tests.support.protocol import servers
from tests.support.waiting import processes_in

TAP = Path(tap.__file__)
# A program that has nothing to do any more ends by itself; this is for one that does not.
PROGRAM_SECONDS = 180
# For what a program has left behind to end by itself.
END_SECONDS = 15

# So many tests are listed in answers of growing size: about 140 characters for each.
SIZES = (100, 250, 500, 1000, 3000)
FILES = {
    **SHARED_FILES,
    "test_crash.py": """
        import os
        def test_crash(): os.abort()
        """,
    "test_talking.py": """
        import pytest, time
        @pytest.mark.parametrize("number", range(3600))
        def test_second(number): time.sleep(1)
        """,
    **{
        f"test_{count}.py": f"""
        import pytest
        @pytest.mark.parametrize("number", range({count}))
        def test_one_of_many(number): pass
        """
        for count in SIZES
    },
}


@dataclass(frozen=True)
class Trial:
    calls: Sequence[Call]
    flags: tuple[str, ...] = ()
    permitted: bool = True
    seconds: float = PROGRAM_SECONDS


@dataclass(frozen=True)
class Outcome:
    shown: list[str]
    # Every request to the model that offers our tools, and when it came.
    requests: list[Body]
    times: list[float]
    # By server, in order: what the tap kept.
    wire: dict[str, list[dict[str, Any]]]
    # Whether the model had to look for our tools first.
    searched: bool
    output: str


def run(program: Program, trial: Trial, folder: Path) -> Outcome:
    project, home = folder / "project", folder / "home"
    home.mkdir()
    write_files(project, FILES)
    pythons = {"pytest": "pytest-9", "broken": "no-pytest"}
    logs = {name: folder / f"{name}.log" for name in pythons}
    tapped = [sys.executable, str(TAP)]
    served = [servers.PYTHON, "-m", "pytest_mcp", *trial.flags]
    commands = {
        name: [*tapped, str(logs[name]), *served, f"--python={ENVIRONMENTS[python].python}"]
        for name, python in pythons.items()
    }
    with standing_in(program.dialect, trial.calls) as model:
        output = _play(program, Place(home, model.url, commands, trial.permitted), project, trial.seconds)
    _end_all_in(project)
    wire = {name: [json.loads(line) for line in _lines(log)] for name, log in logs.items()}
    return Outcome(model.shown, model.requests, model.times, wire, model.had_to_search, output)


def _play(program: Program, place: Place, project: Path, seconds: float) -> str:
    start = program.start(place)
    # VIRTUAL_ENV stands for all that a shell hands down.
    variables = {"PATH": os.environ["PATH"], "HOME": str(place.home), "VIRTUAL_ENV": str(place.home / "none")}
    with subprocess.Popen(
        start.command,
        cwd=project,
        env=variables | start.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    return output


def _end_all_in(project: Path) -> None:
    """Servers end when their client has gone; what does not is made to."""
    end = time.monotonic() + END_SECONDS
    while (left := processes_in(project)) and time.monotonic() < end:
        time.sleep(0.1)
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
