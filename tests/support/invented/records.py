"""What a child might tell, with everything a test does not speak of already filled in."""

from pathlib import Path
from typing import Any

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests
from pytest_mcp.config.model import Bounds
from pytest_mcp.process.job import Exit
from pytest_mcp.run.decode import reader
from pytest_mcp.run.events import (
    Chain,
    CollectionFailed,
    CollectionSkipped,
    Event,
    Finished,
    Item,
    Items,
    Phase,
    Selected,
    SessionEnded,
    SessionStarted,
    Started,
)
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run

ENVIRONMENT = RunEnvironment(
    root="/project", interpreter=None, candidates=[], python=None, pytest=None, config_file=None
)
# Of the lists that the child writes.
CHAIN = reader(Chain | None)
BOUNDS = Bounds(root=Path("/project"), max_timeout=3600, max_tokens=1_000_000)


def phase(node_id: str = "test_a.py::test_one", **told: Any) -> Phase:
    """A failed call, unless told otherwise."""
    usual: dict[str, Any] = {
        "when": "call",
        "outcome": "failed",
        "xfail": None,
        "message": None,
        "location": None,
        "traceback": None,
        "chain": None,
        "sections": [],
        "subtest": None,
        "stage": None,
    }
    values = usual | told
    return Phase(id=node_id, **values | {"chain": CHAIN(values["chain"])})


def raised(message: str, *frames: Any, node_id: str = "test_a.py::test_one", **told: Any) -> Phase:
    """A failed call with a chain of one exception; a frame is `path:line`, or that with its function and statement."""
    text = message.removeprefix("AssertionError: ") if message.startswith("AssertionError: assert") else message
    chain = [
        [None, None, text.split("\n"), [frame(*each) if isinstance(each, tuple) else frame(each) for each in frames]]
    ]
    return phase(node_id, **{"message": text, "chain": chain} | told)


def frame(place: str, function: str | None = "call", statement: str | None = "call()", **values: str) -> list[Any]:
    path, _, line = place.rpartition(":")
    return [path, int(line), function, statement, [list(pair) for pair in values.items()], []]


def skipped(node_id: str, reason: str) -> Phase:
    return phase(node_id, when="setup", outcome="skipped", message=reason)


def uncollected(file: str = "test_broken.py", **told: Any) -> CollectionFailed:
    usual: dict[str, Any] = {"error_type": None, "message": None, "line": None, "traceback": ""}
    return CollectionFailed(file=file, **usual | told)


def absent(node_id: str = "test_absent.py", reason: str = "no database") -> CollectionSkipped:
    return CollectionSkipped(id=node_id, reason=reason)


def item(node_id: str, **told: Any) -> Items:
    usual: dict[str, Any] = {"classes": [], "function": node_id.rpartition("::")[2], "line": 1}
    return Items([Item(id=node_id, **usual | told)])


def ended(exit_status: int = 0, **told: Any) -> SessionEnded:
    usual: dict[str, Any] = {
        "duration": 0.5,
        "created": 1.0,
        "root": None,
        "collected": 0,
        "json_exit_code": exit_status,
        "stopped": None,
        "clipped_texts": 0,
        "clipped_characters": 0,
    }
    return SessionEnded(exit_status=exit_status, **usual | told)


def exited(code: int | None = 0, *, stdout: str = "") -> Exit:
    return Exit(code=code, signal=None, reason="exited", duration=0.7, stdout=stdout, stderr="")


def finished(node_id: str, duration: float = 0.1, *, passed: bool = True) -> Finished:
    return Finished(id=node_id, duration=duration, passed=passed)


def one_test(node_id: str, *phases: Phase, duration: float = 0.1) -> list[Event]:
    return [Started(node_id), *phases, finished(node_id, duration)]


def session(*told: Event | list[Event], selected: int, exit_status: int = 0, stopped: str | None = None) -> list[Event]:
    """A session that came to its end, with these events in its middle."""
    middle = [event for entry in told for event in (entry if isinstance(entry, list) else [entry])]
    return [SessionStarted(), Selected(selected), *middle, ended(exit_status, stopped=stopped)]


def green(*node_ids: str) -> list[Event]:
    return session(*(one_test(node_id) for node_id in node_ids), selected=len(node_ids))


def ledger(*events: Event) -> Ledger:
    kept = Ledger()
    for event in events:
        kept.add(event)
    return kept


def execution(events: list[Event], *, code: int | None = 0, stdout: str = "", **asked: Any) -> Run[ExecuteTests]:
    request = ExecuteTests.model_validate(asked, context=BOUNDS)
    return Run(request, ledger(*events), exited(code, stdout=stdout), ("python", "-m", "pytest"), 60, ENVIRONMENT)


def discovery(events: list[Event], *, code: int = 0, **asked: Any) -> Run[DiscoverTests]:
    request = DiscoverTests.model_validate(asked, context=BOUNDS)
    return Run(request, ledger(*events), exited(code), ("python", "-m", "pytest"), 60, ENVIRONMENT)
