"""A survey of a project and what lies around it, with everything a test does not speak of already filled in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import Survey
from pytest_mcp.api.results import Server, TemporaryFolder
from pytest_mcp.environment.interpreters import Trial
from pytest_mcp.environment.surroundings import Surroundings
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.events import Event, Hello, Portrait
from pytest_mcp.run.run import Run
from tests.support.invented.records import ENVIRONMENT, exited, item, ledger, session

ROOT = Path("/project")
VENV = "/project/.venv"
HELLO = Hello(python="3.12.1", executable=f"{VENV}/bin/python", pytest="9.2.0", error=None)
CHOSEN = Candidate(Path(VENV, "bin", "python"), ".venv in the project root")
TEMPORARY = TemporaryFolder(path="/tmp", writable=True, free_bytes=2**40)
SURROUNDINGS = Surroundings(
    root=ROOT,
    git=None,
    temporary=TEMPORARY,
    looks_like_a_project=True,
    in_src=frozenset(),
    server=Server(version="0.1.0", python="3.13.0", executable="/server/bin/python"),
    server_prefix="/server",
)


def around(**known: Any) -> Surroundings:
    return replace(SURROUNDINGS, **known)


def portrait(**told: Any) -> Portrait:
    usual: dict[str, Any] = {
        "prefix": VENV,
        "rootdir": "/project",
        "inifile": None,
        "plugins": [],
        "testpaths": [],
        "addopts": [],
        "python_files": ["test_*.py", "*_test.py"],
        "markers": [],
    }
    return Portrait(**usual | told)


def surveyed(*told: Event | list[Event], selected: int = 1) -> Run[Survey]:
    """A survey that came to its end."""
    return survey(HELLO, portrait(), *session(*told, selected=selected))


def survey(*told: Event) -> Run[Survey]:
    return Run(Survey(), ledger(*told), exited(), ("python", "-m", "pytest", "--collect-only"), 60, ENVIRONMENT)


def trial(run: Run[Survey] | None, *rejected: Candidate, error: CallError | None = None) -> Trial[Survey]:
    return Trial(None if run is None else CHOSEN, rejected, run, error)


ONE_TEST = item("test_a.py::test_one")
