"""An error costs what its call allows, little by default, and has all of its keys in any size."""

from typing import Any

import pytest

from pytest_mcp.api.errors import CallError, ExecutionFailed, Fault, RefusedByPytest, RunEnvironment, RunFacts
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import error_data, serialize, tokens
from tests.support.invented.records import execution

ENVIRONMENT = RunEnvironment(
    "/x", "/x/.venv/bin/python", [{"python": "/y", "why": "no pytest"}] * 9, "3.11", "9.0", None
)


def uncollected(number: int) -> dict[str, Any]:
    error = CollectionError(
        file=f"tests/test_{number}.py",
        error_type="KeyError",
        message=f"'cause {number}' " + "word " * 500,
        line=number,
        traceback="word " * 5000,
        also=0,
    )
    return error.model_dump()


LOUD = RunFacts(
    stdout="".join(f"printed line {number} of a project that says much\n" for number in range(5000)),
    stderr="".join(f"warning {number}: 漢字 and more words\n" for number in range(5000)),
    command=("/x/.venv/bin/python", "-m", "pytest", *(f"tests/test_a.py::test_{number}" for number in range(2000))),
    collection_errors=tuple(uncollected(number) for number in range(20)),
    partial={"tests": [{"node_id": f"t{number}", "traceback": "frame\n" * 900} for number in range(30)]},
    environment=ENVIRONMENT,
)


def asked(**arguments: Any) -> ExecuteTests:
    return execution([], **arguments).request


def cost(data: dict[str, Any]) -> int:
    return tokens.estimate(serialize.line(serialize.safe(data)))


@pytest.mark.parametrize("most", [None, 500, 4000])
def test_the_limit_of_the_call_is_kept_with_every_key(most: int | None) -> None:
    error = ExecutionFailed("crash", "it died", LOUD)

    data = error_data.sent_data(error, asked(max_tokens=most))

    assert cost(data) <= (most or error_data.USUAL_TOKENS)
    assert data.keys() == error.data.keys()
    assert "printed line 4999 " in data["stdout"]
    assert " lines left out ...]" in data["stdout"]
    assert "warning 4999" in data["stderr"]
    assert data["command"][0] == "/x/.venv/bin/python"
    assert data["environment"]["candidates"] == []
    assert sum(1 + each["also"] for each in data["collection_errors"]) == 20


def test_what_fits_is_not_cut() -> None:
    """Not even a text with more characters than there may be tokens: the end of a traceback says what differs."""
    partial = {"tests": [{"node_id": "t", "traceback": "frame " * 150 + "E   assert 1 == 2"}]}
    facts = RunFacts(command=("/x/" + 300 * "y", "-m", "pytest"), partial=partial, environment=ENVIRONMENT)

    data = error_data.sent_data(ExecutionFailed("timeout", "too long", facts), asked(max_tokens=500))

    assert (data["partial"], data["command"]) == (partial, list(facts.command))


def test_with_detail_full_nothing_is_left_out() -> None:
    error = ExecutionFailed("crash", "it died", LOUD)

    assert error_data.sent_data(error, asked(detail="full")) is error.data
    assert error.data["stdout"] == LOUD.stdout


def test_pytests_progress_is_no_output_and_a_stopped_run_says_nothing_of_its_environment() -> None:
    stdout = (
        "=========== test session starts ===========\nplatform linux -- Python 3.11.7, pytest-9.2.0\n"
        "collected 3 items\n\ntest_a.py ..\nfrom a plugin\n\n!!!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!!!\n"
        "/x/test_a.py:3: KeyboardInterrupt\n(to show a full traceback on KeyboardInterrupt use --full-trace)\n"
        "=========== 2 passed in 1.00s ===========\n"
    )
    error = ExecutionFailed("timeout", "too long", RunFacts(stdout=stdout, environment=ENVIRONMENT))

    data = error_data.sent_data(error, asked())

    assert (data["stdout"], data["environment"]) == ("from a plugin", None)


@pytest.mark.parametrize(("kind", "stderr"), [("not_found", ""), ("bad_expression", "ERROR: no")])
def test_a_refused_argument_repeats_nothing_that_its_message_says(kind: str, stderr: str) -> None:
    facts = RunFacts(exit_code=4, stdout="noise", stderr="ERROR: no\n", command=("python",), environment=ENVIRONMENT)
    error: CallError = RefusedByPytest([Fault("path", "was not found", kind, "x")], facts)

    data = error_data.sent_data(error, asked())

    assert data.keys() == error.data.keys()
    assert [data[key] for key in ("stdout", "stderr", "command", "environment")] == ["", stderr, [], None]


def test_candidates_are_named_where_no_python_was_found() -> None:
    error = ExecutionFailed("environment", "none", RunFacts(environment=ENVIRONMENT))

    assert error_data.sent_data(error, asked())["environment"]["candidates"]
