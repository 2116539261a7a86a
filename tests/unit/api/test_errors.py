import json
from typing import Any

import pytest

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import (
    MAX_FAULTS,
    MAX_LISTED_FAULTS,
    MAX_SENTENCE,
    CallError,
    ExecutionFailed,
    Fault,
    InternalError,
    InvalidParams,
    NotInitialized,
    RefusedByPytest,
    RunFacts,
)

FACTS: dict[str, Any] = {
    **dict.fromkeys(["exit_code", "signal", "duration", "partial", "environment"]),
    "stdout": "",
    "stderr": "",
    "command": [],
    "timeout_exceeded": False,
    "collection_errors": [],
}


def raised() -> ValueError:
    try:
        raise ValueError("oops")
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidParams([Fault("path", "is blank", "value_error", "")]), -32602),
        (NotInitialized("tools/call"), -32602),
        (RefusedByPytest([Fault("path", "was not found", "not_found", "x")], RunFacts()), -32602),
        (ExecutionFailed("timeout", "pytest execution exceeded timeout of 1 seconds", RunFacts()), -32000),
        (InternalError(raised()), -32603),
    ],
)
def test_every_error_of_a_call_has_its_code_and_says_its_message(error: CallError, code: int) -> None:
    assert error.code == code
    assert str(error) == error.message


def test_refused_arguments_are_described_by_the_first_and_listed_all() -> None:
    faults = [
        Fault("maxfail", "too small", "greater_than_equal", 0),
        Fault("node_ids.3", "is blank", "value_error", " "),
    ]

    error = InvalidParams(faults)

    assert error.message.splitlines() == [
        "Invalid params: maxfail: too small (received 0)",
        'node_ids.3: is blank (received " ")',
    ]
    assert error.data == {
        "field": "maxfail",
        "detail": "too small",
        "received_value": 0,
        "validation_errors": [
            {"field": "maxfail", "message": "too small", "type": "greater_than_equal"},
            {"field": "node_ids.3", "message": "is blank", "type": "value_error"},
        ],
    }


def test_a_message_names_a_few_faults_and_data_some_more_and_both_count_the_rest() -> None:
    faults = [Fault(f"node_ids.{number}", "is blank", "value_error", "") for number in range(100)]

    error = InvalidParams(faults)

    lines = error.message.splitlines()
    assert len(lines) == MAX_FAULTS + 1
    assert lines[-1] == f"and {100 - MAX_FAULTS} more"
    *listed, rest = error.data["validation_errors"]
    assert [fault["field"] for fault in listed] == [fault.field for fault in faults[:MAX_LISTED_FAULTS]]
    assert (rest["field"], rest["type"]) == ("node_ids", "more")
    assert rest["message"].startswith(f"{100 - MAX_LISTED_FAULTS} more")


def test_advice_is_in_the_message_and_in_data() -> None:
    faults = [Fault(f"node_ids.{n}", "was not found", "not_found", f"t{n}", f"did you mean u{n}?") for n in range(20)]

    error = InvalidParams(faults)

    assert 'node_ids.3: was not found; did you mean u3? (received "t3")' in error.message.splitlines()
    assert error.data["detail"] == "was not found"
    assert error.data["validation_errors"][12]["message"] == "was not found; did you mean u12?"


def test_one_sentence_about_many_values_is_said_once() -> None:
    sentence = "was not found; discover_tests lists what there is"
    faults = [Fault(f"node_ids.{number}", sentence, "not_found", f"a.py::t{number}") for number in range(2000)]

    error = RefusedByPytest(faults, RunFacts(command=("python",)))

    assert error.message.splitlines()[:2] == [
        f'Invalid params: node_ids.0: {sentence} (received "a.py::t0")',
        'node_ids.1: has the same fault as node_ids.0 (received "a.py::t1")',
    ]
    assert error.message.count(sentence) == 1
    assert json.dumps(error.data["validation_errors"]).count(sentence) == 1
    assert len(json.dumps(error.data)) < 20_000


@pytest.mark.parametrize("received", ["x" * 100_000, ["x" * 1000] * 100, {"a": "x" * 100_000}])
def test_a_large_value_is_not_sent_back_whole(received: object) -> None:
    error = InvalidParams([Fault("markers", "is too long", "string_too_long", received)])

    assert len(error.message) < 400
    assert len(error.data["received_value"]) < 600


@pytest.mark.parametrize("received", ["x" * 500, ["a", 1, None]])
def test_a_small_value_is_sent_back_as_it_came(received: object) -> None:
    assert InvalidParams([Fault("markers", "is wrong", "type", received)]).data["received_value"] == received


def test_a_failed_run_has_every_key_even_when_nothing_is_known() -> None:
    error = ExecutionFailed("spawn_failure", "Failed to spawn pytest subprocess: no", RunFacts())

    assert error.data == {"error_type": "spawn_failure", **FACTS}
    assert error.message == "Failed to spawn pytest subprocess: no"


def test_an_argument_that_pytest_refused_has_the_keys_of_both_kinds_of_error() -> None:
    facts = RunFacts(exit_code=4, command=("python", "-m", "pytest"))

    error = RefusedByPytest([Fault("path", "was not found", "not_found", "x")], facts)

    assert error.data == {
        "field": "path",
        "detail": "was not found",
        "received_value": "x",
        "validation_errors": [{"field": "path", "message": "was not found", "type": "not_found"}],
        "error_type": "usage_error",
        **FACTS,
        "exit_code": 4,
        "command": ["python", "-m", "pytest"],
    }


def test_the_message_of_a_failed_run_ends_with_the_last_lines_of_stderr_marked_as_not_ours() -> None:
    stderr = "\n\n".join(f"line {number}" for number in range(20)) + "\n\n" + "x" * 1000

    error = ExecutionFailed("crash", "headline", RunFacts(stderr=stderr), details=["a detail"])

    headline, detail, *quoted = error.message.splitlines()
    assert (headline, detail) == ("headline", "a detail")
    assert quoted[:2] == ["stderr| line 13", "stderr| line 14"]
    assert len(error.message) < 1000
    assert error.data["stderr"] == stderr


def test_a_headline_and_details_that_quote_foreign_text_are_cut_and_keep_their_ends() -> None:
    headline = f"pytest execution failed: unrecognized arguments: --{'x' * 100_000} (configured in pytest.ini)"

    error = ExecutionFailed(
        "usage_error", headline, RunFacts(), details=["y" * 100_000], fix=Sentence("install pytest")
    )

    shown, detail, fix = error.message.splitlines()
    assert max(len(shown), len(detail)) < MAX_SENTENCE + 50
    assert shown.startswith("pytest execution failed: unrecognized arguments: --x")
    assert shown.endswith("(configured in pytest.ini)")
    assert fix == "fix: install pytest"


def test_lines_of_stderr_that_the_headline_has_are_not_quoted_again() -> None:
    usage = "usage: pytest.main() [options]\npytest.main(): error: unrecognized arguments: --cov\n  inifile: a.ini"

    error = ExecutionFailed(
        "usage_error", f"pytest execution failed: {usage}", RunFacts(stderr=f"ERROR: {usage}\nmore\n")
    )

    assert error.message == f"pytest execution failed: {usage}\nstderr| more"


def test_a_bug_of_ours_carries_its_traceback_and_is_called_ours() -> None:
    error = InternalError(raised())

    assert error.message.splitlines()[0] == "Internal server error: ValueError: oops"
    assert "bug of pytest-mcp" in error.message
    assert error.data["traceback"].endswith("ValueError: oops\n")
    assert "in raised" in error.data["traceback"]
