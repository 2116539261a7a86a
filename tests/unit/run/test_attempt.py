"""How a process ended, seen with what it had reported: `Attempt` without a process."""

from typing import Any

import pytest

from pytest_mcp.process.job import Exit
from pytest_mcp.run.attempt import Attempt
from pytest_mcp.run.events import Measuring, Returned


def attempt(*, finished: bool = True, tested_in_time: bool = True, **reported: Any) -> Attempt[Any]:
    nothing: Any = None
    made = Attempt(nothing, nothing, nothing, nothing)
    for name, event in reported.items():
        setattr(made.ledger, name, event)
    made.tested_in_time = tested_in_time
    if finished:
        made.finished.set()
    return made


def ended(reason: Any, code: int | None = None, signal: str | None = "SIGKILL") -> Exit:
    return Exit(code=code, signal=signal, reason=reason, duration=1.0, stdout="", stderr="")


@pytest.mark.parametrize("reason", ["stopped", "interrupted", "timeout"])
async def test_a_child_that_had_only_to_exit_ended_with_the_code_of_pytest(reason: str) -> None:
    seen = attempt(returned=Returned(1))._as_finished(ended(reason))

    assert (seen.reason, seen.code, seen.signal) == ("stopped", 1, None)


async def test_an_exit_status_is_what_a_process_can_exit_with() -> None:
    assert attempt(returned=Returned(-1))._as_finished(ended("timeout")).code == 255


@pytest.mark.parametrize(
    ("how", "reported"),
    [
        (ended("exited", 3, None), {"returned": Returned(0)}),
        (ended("timeout"), {}),
        (ended("timeout"), {"returned": Returned(0), "finished": False}),
        (ended("timeout"), {"measuring": Measuring(0), "tested_in_time": False}),
        (ended("stopped"), {"measuring": Measuring(0)}),
        (ended("interrupted", 2, None), {"returned": Returned(2)}),
    ],
)
async def test_otherwise_it_ended_as_its_process_did(how: Exit, reported: dict[str, Any]) -> None:
    assert attempt(**reported)._as_finished(how) == how


async def test_the_results_of_tests_do_not_wait_for_what_was_measured() -> None:
    seen = attempt(measuring=Measuring(1))._as_finished(ended("timeout"))

    assert (seen.reason, seen.code, seen.signal) == ("stopped", 1, None)
