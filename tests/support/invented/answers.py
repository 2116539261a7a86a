"""Answers of `execute_tests` for invented runs, with as many tests and causes as a test wants."""

import json
from typing import Any
from zlib import crc32

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.report import tokens
from pytest_mcp.report.budget import fit_execution
from pytest_mcp.report.report import Report, execution_report
from pytest_mcp.run.events import Event
from pytest_mcp.text import safe
from pytest_mcp.tools import dump
from tests.support.invented.records import execution, one_test, raised, session

CEILING = 16 * 1024 * 1024
PRINTED = "collected 9 items\n\ntest_a.py .F\n\na plugin speaks\n=== 1 passed in 0.1s ===\n"
# `coverage` is there only if it is asked for.
KEYS = [key for key in ExecuteResult.model_fields if key not in ("coverage", "base", "timing")]


def word(number: int) -> str:
    """Another word for every number; digits would be masked."""
    return "pen" + "".join(chr(97 + int(digit)) for digit in str(number))


def failing(node_id: str = "test_a.py::fails", message: str = "ValueError: no pen", **told: Any) -> list[Event]:
    """Raised at a place of its own for each message."""
    place = f"test_a.py:{crc32(message.encode()) % 10**9}"
    function = node_id.rpartition("::")[2]
    return one_test(node_id, raised(message, (place, function, "buy()"), node_id=node_id, **told))


def red(*tests: list[Event], selected: int | None = None) -> list[Event]:
    return session(*tests, selected=len(tests) if selected is None else selected, exit_status=1)


def suite(*, passing: int = 0, failures: int = 0, causes: int = 1) -> list[Event]:
    tests = [one_test(f"test_a.py::passes{n}") for n in range(passing)]
    tests += [failing(f"test_a.py::fails{n}", f"ValueError: no {word(n % causes)}") for n in range(failures)]
    return session(*tests, selected=len(tests), exit_status=1 if failures else 0)


def answer(stream: list[Event], stdout: str = PRINTED, **asked: Any) -> ExecuteResult:
    run = execution(stream, stdout=stdout, **asked)
    return fit_execution(execution_report(run, None), run.request, ceiling=CEILING)


def report(stream: list[Event]) -> Report:
    return execution_report(execution(stream), None)


def cost(sent: ExecuteResult) -> int:
    """As it leaves, with everything escaped that nobody could see."""
    return tokens.estimate(safe(json.dumps(dump(sent), ensure_ascii=False, separators=(",", ":"))))


def shown_alone(sent: ExecuteResult) -> list[str]:
    """Failures that are shown and in no group."""
    examples = {cause.example for cause in sent.failure_groups}
    failed = ((index, test) for index, test in enumerate(sent.tests) if test.outcome in ("failed", "error"))
    return [test.node_id for index, test in failed if index not in examples]
