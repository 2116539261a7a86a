import math
import random

import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.history import durations, one_test
from pytest_mcp.history.answer import Durations
from pytest_mcp.history.store import TestRow
from tests.support.history.histories import Past

TESTS = 12


def fill(past: Past, runs: int, *, slower_from: int = 10_000, factor: float = 2.0) -> None:
    """A suite on a machine of changing speed, whose first test takes longer from a run on."""
    rng = random.Random(5)
    with past.store.transaction():
        for number in range(runs):
            speed = math.exp(rng.gauss(0, 0.4))
            seconds = [0.05 * (test + 1) * speed * math.exp(rng.gauss(0, 0.04)) for test in range(TESTS)]
            seconds[0] *= factor if number >= slower_from else 1
            rows = [TestRow(f"t.py::test_{test}", "P", took) for test, took in enumerate(seconds)]
            past.run(rows, duration=sum(seconds), commit_id=f"{number:040x}")


def changed(past: Past, place: str = "") -> Durations:
    found = durations.slow_tests(past.scope, place).slow
    assert found is not None
    return found


def test_the_slower_test_is_told_with_the_run_since_which_it_is(past: Past) -> None:
    fill(past, 40, slower_from=34)

    found = changed(past)

    (change,) = found.changed
    assert (change.name, change.commit, change.runs) == ("t.py::test_0", f"{34:040x}"[:7], 6)
    assert 1.8 < change.now / change.before < 2.2
    assert found.suites == []
    assert [each.node_id for each in found.slowest[:2]] == ["t.py::test_11", "t.py::test_10"]


def test_a_suite_that_became_slower_is_told_too(past: Past) -> None:
    fill(past, 40, slower_from=34, factor=60.0)

    assert [each.name for each in changed(past).suites] == ["all tests"]


def test_a_path_is_compared_although_the_other_tests_tell_how_fast_the_machine_is(past: Past) -> None:
    fill(past, 40, slower_from=34)

    assert len(changed(past, "t.py::test_0").changed) == 1
    assert changed(past, "t.py::test_3").changed == []
    assert changed(past, "elsewhere").slowest == []


def test_all_tests_alike_are_a_notice_and_no_change_of_a_test(past: Past) -> None:
    fill(past, 40)
    with past.store.transaction():
        for _ in range(20):
            seconds = [0.5 * (test + 1) for test in range(TESTS)]
            rows = [TestRow(f"t.py::test_{test}", "P", took) for test, took in enumerate(seconds)]
            past.run(rows, duration=sum(seconds))

    answer = durations.slow_tests(past.scope)

    assert answer.slow is not None
    assert (answer.slow.changed, answer.slow.suites) == ([], [])
    assert [notice.partition(" became ")[0] for notice in answer.notices[1:]] == ["All tests"]


def test_nothing_recorded_is_nothing_to_compare(past: Past) -> None:
    assert changed(past) == Durations(changed=[], suites=[], slowest=[])


@pytest.mark.parametrize(("slower_from", "trend"), [(10_000, "steady"), (34, "2.0 times slower since ")])
def test_one_test_has_quartiles_its_days_and_a_trend(past: Past, slower_from: int, trend: str) -> None:
    fill(past, 40, slower_from=slower_from)
    past.store.execute("INSERT INTO trends SELECT id, 1, 1, 0, 0.5 FROM tests WHERE node_id = 't.py::test_0'")

    test = one_test.one_test(past.scope, "t.py::test_0").test

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

    test = one_test.one_test(past.scope, "t.py::test_x").test

    assert test is not None
    assert (test.pattern, test.failing_since, test.trend) == ("PPFSF", "bbbbbbb", "unknown: too few passes")
    assert (test.runs, test.failed, test.skipped, test.quartiles) == (5, 2, 1, [0.01] * 3)


def test_an_unknown_test_has_no_runs_and_a_name_of_several_is_refused(past: Past) -> None:
    past.letters("t.py::test_x[1]", "P")

    assert one_test.one_test(past.scope, "t.py::test_y").notices == ["No run of this test is recorded."]
    assert one_test.one_test(past.scope._replace(project="other"), "t.py::test_x").runs == 0
    with pytest.raises(InvalidParams) as refused:
        one_test.one_test(past.scope, "t.py::test_x")
    assert refused.value.data["field"] == "node_id"
    assert "for example t.py::test_x[1]" in str(refused.value)
