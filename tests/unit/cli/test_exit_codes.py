"""Every way in which a command can end has an exit code, and only success is 0."""

import re
from typing import get_args

import pytest

from pytest_mcp.api.errors import (
    CallError,
    ErrorType,
    ExecutionFailed,
    Fault,
    InternalError,
    InvalidParams,
    RunFacts,
)
from pytest_mcp.api.results import CollectionError, DiscoverResult, Verdict
from pytest_mcp.cli import exit_codes
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence
from tests.support.paths import ROOT

DOCUMENT = ROOT / "docs" / "command-line.md"
OTHERS = [InvalidParams([Fault("path", "is blank", "value_error", "")]), InternalError(ValueError("x"))]


def executed(verdict: Verdict, exit_code: int) -> Report:
    evidence = {
        "passed": Evidence(),
        "failed": Evidence(has_failed=True),
        "no_tests": Evidence(is_empty=True),
        "incomplete": Evidence(is_unfinished=True),
    }
    return Report(evidence[verdict], exit_code=exit_code)


def discovered(count: int, *broken: str) -> DiscoverResult:
    told = {"error_type": "E", "message": "", "line": None, "traceback": None, "also": 0}
    errors = [CollectionError.model_validate({"file": file, **told}) for file in broken]
    return DiscoverResult(count=count, notices=[], collection_errors=errors, tests=[], files=[], omitted=None)


@pytest.mark.parametrize("own", [0, 1, 2, 5, 77])
def test_only_the_verdict_passed_is_zero_and_else_pytests_own_code_is_taken(own: int) -> None:
    """A run without tests has one code, whatever pytest says."""
    codes = {verdict: exit_codes.of_report(executed(verdict, own)) for verdict in get_args(Verdict)}

    assert codes == {"passed": 0, "failed": own or 1, "incomplete": own or 1, "no_tests": 5}


def test_a_discovery_is_zero_if_it_lists_tests_and_every_file_could_be_collected() -> None:
    assert exit_codes.of_discovery(discovered(3)) == 0
    assert exit_codes.of_discovery(discovered(0)) == 5
    assert exit_codes.of_discovery(discovered(3, "a.py")) == 2
    assert exit_codes.of_discovery(discovered(0, "a.py")) == 2


@pytest.mark.parametrize("error_type", get_args(ErrorType))
def test_every_error_type_has_a_code_and_none_is_zero(error_type: ErrorType) -> None:
    assert exit_codes.of_error(ExecutionFailed(error_type, "no", RunFacts())) in range(1, 6)


def test_every_other_error_has_one_too() -> None:
    assert {*map(type, OTHERS), ExecutionFailed} == set(CallError.__subclasses__())
    assert [exit_codes.of_error(error) for error in OTHERS] == [4, 3]


def test_the_document_has_the_same_codes() -> None:
    rows = re.findall(r"(?m)^\| (\d)[^|]*\| ([^|]*) \|", DOCUMENT.read_text(encoding="utf-8"))
    told = {name: int(code) for code, names in rows for name in re.findall(r"`(\w+)`", names)}

    assert told == dict([*exit_codes.OF_VERDICTS.items(), *exit_codes.OF_ERROR_TYPES.items()])
    assert [int(code) for code, _ in rows] == list(range(6))
