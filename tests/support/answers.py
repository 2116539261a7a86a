"""Runs as events, their complete results, and what of these is sent."""

import json
from typing import Any

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.events.model import Event
from pytest_mcp.report import tokens
from pytest_mcp.report.budget import fit_execution
from pytest_mcp.report.result import executed
from pytest_mcp.text import safe
from pytest_mcp.tools import dump
from tests.support.records import execution, one_test, phase, session, skipped

CEILING = 16 * 1024 * 1024
PRINTED = "collected 9 items\n\ntest_a.py .F\n\na plugin speaks\n=== 1 passed in 0.1s ===\n"
# Words that no mask hides.
CAUSES = ("no pen", "no ink", "no paper")


def suite(*, passing: int = 0, failing: int = 0, causes: int = 1, skipping: int = 0) -> list[Event]:
    tests = [one_test(f"test_a.py::passes{n}") for n in range(passing)]
    for number in range(failing):
        node_id = f"test_a.py::fails{number}"
        message = f"ValueError: {CAUSES[number % causes]}"
        tests.append(one_test(node_id, phase(node_id, message=message, location=["a.py", 1], traceback="whole")))
    tests += [one_test(f"test_a.py::skips{n}", skipped(f"test_a.py::skips{n}", "no")) for n in range(skipping)]
    return session(*tests, selected=len(tests), exit_status=1 if failing else 0)


def answer(stream: list[Event], stdout: str = PRINTED, **asked: Any) -> tuple[ExecuteResult, ExecuteResult]:
    """The complete result, and what of it is sent."""
    run = execution(stream, stdout=stdout, **asked)
    whole = executed(run)
    return whole, fit_execution(whole, run.request, ceiling=CEILING)


def cost(sent: ExecuteResult) -> int:
    """As it leaves, with everything escaped that nobody could see."""
    return tokens.estimate(safe(json.dumps(dump(sent), ensure_ascii=False, separators=(",", ":"))))


def failing(node_id: str = "test_a.py::fails", **told: Any) -> list[Event]:
    usual = {"message": "ValueError: no", "location": ["a.py", 1], "traceback": "E   ValueError: no"}
    return one_test(node_id, phase(node_id, **usual | told))


def red(*tests: list[Event], selected: int | None = None) -> list[Event]:
    return session(*tests, selected=len(tests) if selected is None else selected, exit_status=1)


def word(number: int) -> str:
    """Another word for every number; digits would be masked."""
    return "".join(chr(97 + int(digit)) for digit in str(number))
