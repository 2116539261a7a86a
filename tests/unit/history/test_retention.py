"""Old runs become trends."""

import pytest

from pytest_mcp.config.model import History
from pytest_mcp.history import retention
from pytest_mcp.history.store import Store, TestRow
from tests.support.history.histories import DAY, NOW, counts, passing, run_row

TODAY = int(NOW // DAY)


def record(store: Store, days_ago: float, *tests: TestRow) -> None:
    store.record(run_row(started=NOW - days_ago * DAY, passed=len(tests)), tests)


def test_runs_that_are_too_old_become_one_row_for_each_test_and_day(store: Store) -> None:
    for seconds, outcome in ((0.1, "P"), (0.9, "F"), (0.2, "E")):
        record(store, 10, TestRow("a", outcome, seconds), TestRow("b", "S", 0.5))  # type: ignore[arg-type]
    record(store, 9, TestRow("a", "P", 0.4))
    record(store, 1, TestRow("a", "P", 0.3))

    retention.thin(store, History("", keep_days=5), now=NOW)

    trends = store.execute(
        "SELECT node_id, day, runs, failed, median FROM trends JOIN tests ON tests.id = test_id ORDER BY node_id, day"
    )
    assert trends == [("a", TODAY - 10, 3, 2, 0.2), ("a", TODAY - 9, 1, 0, 0.4), ("b", TODAY - 10, 3, 0, None)]
    assert counts(store) == (1, 2, 1)

    record(store, 10, TestRow("a", "F", 0.6))
    record(store, 0, TestRow("a", "P", 0.3))
    retention.thin(store, History("", keep_days=5), now=NOW)

    late = store.execute("SELECT runs, failed, median FROM trends WHERE day = ? AND median IS NOT NULL", (TODAY - 10,))
    assert late == [(4, 3, pytest.approx(0.3))]
    assert counts(store) == (2, 2, 2)


def test_a_history_that_is_too_large_loses_its_oldest_runs_but_never_the_last(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_RESULTS", 250)
    for number in range(10):
        record(store, 1 - number / 100, *passing(100))
    room_for_four = 4 * (100 + retention.RESULTS_PER_RUN) * store.bytes_per_result

    retention.thin(store, History("", max_bytes=room_for_four), now=NOW)

    assert counts(store) == (4, 100, 400)
    assert store.execute("SELECT MIN(runs), MAX(runs), COUNT(*) FROM trends") == [(6, 6, 100)]

    retention.thin(store, History("", max_bytes=1), now=NOW)

    assert counts(store) == (1, 100, 100)


def test_nothing_is_thinned_within_the_limits(store: Store) -> None:
    record(store, 4, *passing(3))
    record(store, 0, *passing(3))

    retention.thin(store, History("", keep_days=5), now=NOW)

    assert counts(store) == (2, 3, 6)
    assert store.execute("SELECT * FROM trends") == []
