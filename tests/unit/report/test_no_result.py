"""Why a run has no result; integration/runs/results has real ones."""

from pathlib import Path

import pytest

from pytest_mcp import engine
from pytest_mcp.api.errors import ExecutionFailed
from pytest_mcp.config.model import Options, configure
from pytest_mcp.report import no_result
from pytest_mcp.report.report import execution_report
from pytest_mcp.run.events import Started
from tests.support.invented.records import execution, one_test, phase, session
from tests.support.invented.surveys import HELLO

UNFINISHED = [HELLO, *session(one_test("tests/test_a.py::test_one"), selected=2)[:-1]]


def test_who_interrupts_a_run_is_told_what_had_finished_and_what_was_running(tmp_path: Path) -> None:
    events = session(one_test("a.py::b", phase("a.py::b")), [Started("a.py::c")], selected=4)[:-1]

    run = execution(events, code=None)
    known = execution_report(run, no_result.interrupted(run, "SIGINT"))

    with pytest.raises(ExecutionFailed) as raised:
        engine.answer(known, run.request, configure(Options(root=str(tmp_path)), {}))

    error = raised.value
    assert (error.code, error.error_type, error.data["exit_code"]) == (-32000, "interrupted", None)
    assert (error.data["partial"]["summary"]["failed"], error.data["partial"]["not_run"]) == (1, 2)
    assert error.data["partial"]["running"] == ["a.py::c"]
    assert "running: a.py::c" in error.message


def test_a_process_that_pytest_timeout_ended_is_told_with_the_place() -> None:
    """Its method thread prints stacks and exits, within whatever test runs."""
    bars = "+" * 35
    frames = [
        f'File "{path}", line 8, in test_slow'
        for path in ("/usr/lib/x.py", "/project/tests/test_a.py", "/usr/lib/y.py")
    ]
    stdout = "\n    call()\n  ".join([f"F{bars} Timeout {bars}", *frames, f"time.sleep(9)\n{bars} Timeout {bars}"])

    error = no_result.diagnose(execution(UNFINISHED, code=1, stdout=stdout))

    assert error is not None
    assert "pytest-timeout (method: thread) ended the process at tests/test_a.py:8: in test_slow" in error.message


def test_the_stacks_of_a_crash_are_told_without_the_frames_of_pytest() -> None:
    inner = [
        f'  File "{path}", line 8, in call\n    {path}()\n'
        for path in ("/env/lib/python3.12/site-packages/_pytest/runner.py", "/env/site-packages/pluggy/_manager.py")
    ]
    own = '  File "/project/tests/test_a.py", line 8, in test_slow\n    wait()\n'

    error = no_result.diagnose(execution(UNFINISHED, code=1, stdout=f"F\n{inner[0]}{inner[1]}{own}end\n"))

    assert error is not None
    assert error.data["stdout"] == f"F\n{own}end\n"


def test_one_line_that_looks_like_that_of_pytest_timeout_is_not_believed() -> None:
    printed = '+++++ Timeout +++++\n  File "/project/tests/test_a.py", line 8, in test_slow\n'

    error = no_result.diagnose(execution(UNFINISHED, code=1, stdout=printed))

    assert error is not None
    assert "the process exited with code 1 before the test session finished" in error.message
