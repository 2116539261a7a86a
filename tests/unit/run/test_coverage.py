"""Records of what was covered: every one is checked, because a test can forge it."""

import json
from typing import Any

import pytest

from pytest_mcp.run import decode


def parsed(**fields: Any) -> Any:
    usual: dict[str, Any] = {"k": "covered_file", "n": 1, "file": "a.py", "lines": 9, "missed": 2, "ranges": "3-4"}
    record = decode.parse(json.dumps({**usual, "untaken": None, **fields}).encode())
    return None if record is None else record.event


def test_ranges_and_pairs_of_lines_are_accepted() -> None:
    assert parsed(ranges="", untaken=[]).untaken == []
    assert parsed(ranges="3-4,9", untaken=[[3, -1]]).ranges == "3-4,9"


@pytest.mark.parametrize(
    "fields",
    [
        *({"ranges": text} for text in ("3-", "-3", "3,", ",3", "x", "3 ", "3\n", "999999999")),
        *({"untaken": pairs} for pairs in ([[1]], [[1, 2, 3]], [1], [["1", "2"]])),
    ],
)
def test_anything_else_is_no_record(fields: dict[str, Any]) -> None:
    assert parsed(**fields) is None
