"""Answers as they are sent. No error is larger than the operator allows, whatever was asked, printed or raised."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp.api.errors import (
    CallError,
    ExecutionFailed,
    Fault,
    InternalError,
    InvalidParams,
    RefusedByPytest,
    RunFacts,
)
from pytest_mcp.config.model import LEAST_REPLY_BYTES, Bounds
from pytest_mcp.report import serialize
from pytest_mcp.tools import BY_NAME

ODD = "\x1b[31mred\x1b[0m\u202e"
SAFE = "\\x1b[31mred\\x1b[0m\\u202e"
BOUNDS = Bounds(root=Path(__file__).parent, max_timeout=60, max_tokens=10_000)
# One byte each, then characters that need more of them, as they are or escaped.
LETTERS = st.sampled_from(["x", "漢", "😀", '"', "\\", "\n", "\x00", "\U000e0041", "a/"])
WORDS = st.builds(str.__mul__, LETTERS, st.sampled_from([1, 10, 1000, 4096]))
# Few long ones or many short ones: each alone is enough, and both together take seconds.
IDS = st.builds(lambda word: [f"{word}{number}" for number in range(2000 if len(word) < 100 else 50)], WORDS)


def test_every_string_is_made_safe_wherever_it_stands() -> None:
    answer = {ODD: [ODD, (ODD, 1, 2.5, True, None)], "path": Path("/x")}

    assert serialize.safe(answer) == {SAFE: [SAFE, [SAFE, 1, 2.5, True, None]], "path": "/x"}


def test_colours_stay_in_text_output_alone_and_only_where_they_were_asked_for() -> None:
    answer = {"text_output": ODD, "message": ODD}

    assert serialize.safe(answer, colour=True) == {"text_output": "\x1b[31mred\x1b[0m\\u202e", "message": SAFE}
    assert serialize.safe(answer) == {"text_output": SAFE, "message": SAFE}


def test_an_error_has_its_code_its_message_and_its_data() -> None:
    reply = serialize.of_error(ExecutionFailed("crash", f"no {ODD}", RunFacts(stderr="")))

    assert list(reply) == ["code", "message", "data"]
    assert (reply["code"], reply["message"], reply["data"]["error_type"]) == (-32000, f"no {SAFE}", "crash")


def test_an_answer_is_one_line() -> None:
    answer = {"a": "ü\n", "b": [1, None]}

    assert serialize.line(answer) == '{"a":"ü\\n","b":[1,null]}'
    assert json.loads(serialize.line(answer)) == answer


def sent(error: CallError, ceiling: int = LEAST_REPLY_BYTES) -> tuple[dict[str, Any], int]:
    """The error as a client gets it, and the bytes of the longest way to send it: JSON as a text inside of JSON."""
    answer = serialize.of_error(error, ceiling)
    line = serialize.line(answer)
    assert json.loads(line) == answer
    return answer, len(serialize.line({"content": [{"type": "text", "text": line}]}).encode())


@settings(max_examples=5)
@given(IDS, WORDS, st.dictionaries(WORDS, WORDS, max_size=3))
def test_a_request_with_many_or_large_values_gets_a_small_error(
    ids: list[str], path: str, unknown: dict[str, str]
) -> None:
    arguments: dict[str, Any] = {"node_ids": ids, "path": f"-{path}", "markers": path, **unknown}

    with pytest.raises(InvalidParams) as refused:
        BY_NAME["execute_tests"].accept(arguments, BOUNDS)

    answer, size = sent(refused.value)
    assert size < LEAST_REPLY_BYTES
    assert answer["code"] == -32602
    assert answer["data"]["field"]
    assert answer["data"]["validation_errors"]
    assert "left out to fit" not in answer["message"]


@settings(max_examples=5)
@given(IDS, WORDS, WORDS)
def test_what_pytest_refuses_of_many_or_large_values_is_a_small_error(ids: list[str], why: str, printed: str) -> None:
    faults = [Fault(f"node_ids.{number}", why, "not_found", each) for number, each in enumerate(ids)]
    facts = RunFacts(exit_code=4, stdout=printed, stderr=printed, command=("python", "-m", "pytest", *ids))

    answer, size = sent(RefusedByPytest(faults, facts))

    assert size < LEAST_REPLY_BYTES
    assert (answer["code"], answer["data"]["error_type"]) == (-32602, "usage_error")
    assert answer["data"]["field"] == "node_ids.0"
    assert answer["data"]["exit_code"] == 4


@settings(max_examples=5)
@given(WORDS, IDS, st.sampled_from([LEAST_REPLY_BYTES, 2 * LEAST_REPLY_BYTES, 1_000_000]))
def test_a_run_that_failed_keeps_its_kind_and_its_keys_in_any_size(word: str, ids: list[str], ceiling: int) -> None:
    few = ids[:30]
    partial = {"tests": [{"node_id": each, "traceback": word} for each in few], "metadata": dict.fromkeys(few, word)}
    facts = RunFacts(signal="SIGKILL", stdout=word, stderr=word, command=tuple(ids), partial=partial)
    error = ExecutionFailed("crash", f"it died: {word}", facts, details=ids)

    answer, size = sent(error, ceiling)

    assert size < ceiling
    assert answer["message"].startswith("it died: ")
    assert answer["data"].keys() == error.data.keys()
    assert (answer["data"]["error_type"], answer["data"]["signal"]) == ("crash", "SIGKILL")


def test_what_was_cut_to_fit_is_said() -> None:
    facts = RunFacts(stdout="x" * 1_000_000, partial={"tests": ["y"] * 100_000})

    answer, _ = sent(ExecutionFailed("crash", "it died", facts))

    assert answer["message"].endswith("\nParts of data were left out to fit the limit of 65536 bytes.")
    assert "characters left out" in answer["data"]["stdout"]
    assert answer["data"]["partial"]["tests"][-1].endswith("entries left out ...]")


def test_a_bug_with_a_long_text_is_a_small_error() -> None:
    answer, size = sent(InternalError(ValueError("漢" * 1_000_000)))

    assert size < LEAST_REPLY_BYTES
    assert answer["message"].startswith("Internal server error: ValueError: ")
