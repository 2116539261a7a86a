import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.history.one_test import one_test
from pytest_mcp.history.runs import read_runs
from tests.support.history.histories import Past


@pytest.mark.parametrize(("slower_from", "trend"), [(10_000, "steady"), (34, "2.0 times slower since ")])
def test_one_test_has_quartiles_its_days_and_a_trend(past: Past, slower_from: int, trend: str) -> None:
    past.suite(40, slower_from=slower_from)
    past.store.execute("INSERT INTO trends SELECT id, 1, 1, 0, 0.5 FROM tests WHERE node_id = 't.py::test_0'")

    test = one_test(past.runs(), "t.py::test_0").test

    assert test is not None
    assert (test.flaky, test.failing_since) == (None, None)
    assert test.trend.startswith(trend)
    assert test.quartiles is not None
    assert 0.02 < test.quartiles[0] < test.quartiles[1] < test.quartiles[2] < 0.2
    assert test.daily[0] == 0.5
    assert len(test.daily) in (3, 4)


def test_one_test_that_fails_is_told_since_when_and_skips_do_not_end_that(past: Past) -> None:
    past.letters("t.py::test_x", "PP", commit_id="a" * 40)
    past.letters("t.py::test_x", "FSF", commit_id="b" * 40)

    test = one_test(past.runs(), "t.py::test_x").test

    assert test is not None
    assert (test.pattern, test.failing_since, test.trend) == ("PPFSF", "bbbbbbb", "unknown: too few passes")
    assert (test.runs, test.failed, test.skipped, test.quartiles) == (5, 2, 1, [0.01] * 3)


def test_an_unknown_test_has_no_runs_and_a_name_of_several_is_refused(past: Past) -> None:
    past.letters("t.py::test_x[1]", "P")

    assert one_test(past.runs(), "t.py::test_y").notices == ["No run of this test is recorded."]
    assert one_test(read_runs(past.store, "other"), "t.py::test_x").runs == 0
    with pytest.raises(InvalidParams) as refused:
        one_test(past.runs(), "t.py::test_x")
    assert refused.value.data["field"] == "node_id"
    assert "for example t.py::test_x[1]" in str(refused.value)
