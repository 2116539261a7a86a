"""The official clients get the same answers, whatever the wire and the era of the protocol: those of the newest SDK.

These are the ones that are cheap to have; `make interop` has the others.
"""

import json

import pytest

from tests.external.interop.answers import Answer, check
from tests.external.interop.drivers import Way, driven
from tests.support.workbench import Workbench

# Of a call that is cancelled the first Python SDK tells nobody.
WAYS = [
    Way("python_1.py", "stdio", "legacy", "mcp-1", cancels=False),
    Way("python_1.py", "http", "legacy", "mcp-1", cancels=False),
    Way("typescript_2.mjs", "http", "modern"),
]


def test_the_newest_sdk_gets_results_and_errors_in_two_equal_channels_and_can_cancel(
    expected: dict[str, Answer],
) -> None:
    verdicts = {step: json.loads(said["text"]).get("verdict") for step, said in expected.items() if "text" in said}
    errors = {step: said["error"]["code"] for step, said in expected.items() if "error" in said}

    assert verdicts == {
        "explained": None,
        "discovered": None,
        "passed": "passed",
        "failed": "failed",
        "followed": "passed",
        "gone": "passed",
    }
    assert errors == {"refused": -32602, "timed out": -32000}
    assert expected["cancelled"] == {"cancelled": True}
    assert all(said["text"] == said["structured"] for said in expected.values() if "text" in said)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_client_gets_what_the_newest_sdk_gets(way: Way, bench: Workbench, expected: dict[str, Answer]) -> None:
    told = driven(way, bench.root)

    check(told, bench.root, expected)
