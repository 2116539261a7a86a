"""Records of what a test has run: every one is checked, because a test can forge it."""

import json
from typing import Any

import pytest

from pytest_mcp.run import decode, events
from pytest_mcp.run.events import Executed, Line
from pytest_mcp.run.ledger import Ledger


def parsed(**fields: Any) -> Any:
    usual: dict[str, Any] = {"k": "executed", "n": 1, "id": "test_a.py::test_a", "code": {}, "calls": []}
    record = decode.parse(json.dumps({**usual, "complete": True, **fields}).encode())
    return None if record is None else record.event


def test_ranges_are_the_lines_of_their_functions() -> None:
    event = parsed(code={"a.py": [["f", "3-5,9"], ["C.g", "12"]], "b.py": []}, calls=[["a.py", "f"]])

    assert list(event.lines()) == [*(Line("a.py", "f", n) for n in (3, 4, 5, 9)), Line("a.py", "C.g", 12)]
    assert event.calls == [["a.py", "f"]]


@pytest.mark.parametrize(
    "code",
    [
        {"a.py": 3},
        {"a.py": "text"},
        {"a.py": ["f3"]},
        {"a.py": [["f"]]},
        {"a.py": [["f", 3]]},
        {"a.py": [[3, "3"]]},
        {"a.py": [["f", ""]]},
        {"a.py": [["f", "3-"]]},
        {"a.py": [["f", "5-3"]]},
        {"a.py": [["f", "-3"]]},
        {"a.py": [["f", "3,"]]},
        {"a.py": [["f", "99999999"]]},
        {"a.py": [["f", f"1-{events.MOST_LINES + 1}"]]},
        {"a.py": [["f", "1-9999999"]] * 1000},
    ],
)
def test_a_record_of_another_shape_is_ignored(code: object) -> None:
    assert parsed(code=code) is None


def test_calls_are_pairs_of_texts() -> None:
    assert parsed(calls=[["a.py"]]) is None
    assert parsed(calls=[["a.py", 3]]) is None


def test_the_ledger_keeps_the_last_record_of_a_test() -> None:
    ledger = Ledger()
    records = [Executed("t", {"a.py": [["f", text]]}, [], True) for text in ("1", "2")]

    for record in records:
        ledger.add(record)

    assert ledger.executed == {"t": records[1]}
