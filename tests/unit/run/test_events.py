"""Records of lines that ran or did not: every one is checked, because a test can forge it."""

import json
from typing import Any

import pytest

from pytest_mcp.run import decode, events
from pytest_mcp.run.events import Line

EXECUTED: dict[str, Any] = {
    "k": "executed",
    "n": 1,
    "id": "test_a.py::test_a",
    "code": {},
    "calls": [],
    "complete": True,
}
COVERED_FILE = {"k": "covered_file", "n": 1, "file": "a.py", "lines": 9, "missed": 2, "ranges": "3-4", "untaken": None}


def parsed(usual: dict[str, Any], **fields: Any) -> Any:
    record = decode.parse(json.dumps({**usual, **fields}).encode())
    return None if record is None else record.event


def test_ranges_are_the_lines_of_their_functions() -> None:
    event = parsed(EXECUTED, code={"a.py": [["f", "3-5,9"], ["C.g", "12"]], "b.py": []}, calls=[["a.py", "f"]])

    assert list(event.lines()) == [*(Line("a.py", "f", n) for n in (3, 4, 5, 9)), Line("a.py", "C.g", 12)]
    assert event.calls == [("a.py", "f")]


def test_ranges_and_pairs_of_lines_of_a_covered_file_are_accepted() -> None:
    assert parsed(COVERED_FILE, ranges="", untaken=[]).untaken == []
    assert parsed(COVERED_FILE, ranges="3-4,9", untaken=[[3, -1]]).ranges == "3-4,9"


@pytest.mark.parametrize(
    "functions",
    [
        *(3, "text", ["f3"], [["f"]], [["f", 3]], [[3, "3"]]),
        *([["f", ranges]] for ranges in ("", "3-", "5-3", "-3", "3,", "99999999", f"1-{events.MAX_LINES + 1}")),
        [["f", "1-9999999"]] * 1000,
    ],
)
def test_a_traced_test_with_other_lines_is_no_event(functions: object) -> None:
    assert parsed(EXECUTED, code={"a.py": functions}) is None


@pytest.mark.parametrize("call", [["a.py"], ["a.py", 3]])
def test_a_traced_test_with_other_calls_than_pairs_of_texts_is_no_event(call: list[object]) -> None:
    assert parsed(EXECUTED, calls=[call]) is None


@pytest.mark.parametrize(
    "fields",
    [
        *({"ranges": text} for text in ("3-", "-3", "3,", ",3", "x", "3 ", "3\n", "999999999")),
        *({"untaken": pairs} for pairs in ([[1]], [[1, 2, 3]], [1], [["1", "2"]])),
    ],
)
def test_a_covered_file_with_other_lines_is_no_event(fields: dict[str, Any]) -> None:
    assert parsed(COVERED_FILE, **fields) is None
