"""How far a run has come, in words."""

from pytest_mcp.run.events import Event, Selected, SessionStarted, Started
from pytest_mcp.run.run import Steps
from pytest_mcp.server import progress
from tests.support.invented.records import ledger, one_test, phase

RUNNING: list[Event] = [
    SessionStarted(),
    Selected(8),
    *one_test("tests/test_a.py::test_one", phase("tests/test_a.py::test_one")),
    *one_test("tests/test_a.py::test_two"),
    Started("tests/test_b.py::test_three"),
]


def test_the_words_for_a_client_have_counts_failures_and_the_latest_file() -> None:
    assert progress.words(ledger(*RUNNING)) == "2/8 · 1 failed · tests/test_b.py"
    assert progress.words(ledger(Started("a\x1b.py::b"))) == "0/? · 0 failed · a\\x1b.py"
    assert progress.words(Steps(3, "alone 3/5: PPF")) == "alone 3/5: PPF"
