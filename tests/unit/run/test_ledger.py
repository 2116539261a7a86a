from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.run.decode import Record
from pytest_mcp.run.events import (
    Collected,
    Deselected,
    Distributed,
    Ending,
    Event,
    Finished,
    ImportedElsewhere,
    Item,
    Phase,
    Selected,
    SessionStarted,
    Started,
    StartedAt,
    Warned,
    WorkerStack,
)
from pytest_mcp.run.ledger import SHORTENED_TEXT, Ledger, weight
from tests.support.invented.records import (
    absent,
    ended,
    finished,
    item,
    ledger,
    one_test,
    phase,
    uncollected,
)

A, B, C = "test_a.py::a", "test_a.py::b", "test_a.py::c"

phases = st.builds(
    phase,
    st.sampled_from([A, B, C]),
    when=st.sampled_from(["setup", "call", "teardown"]),
    outcome=st.sampled_from(["passed", "failed", "skipped", "rerun"]),
    subtest=st.sampled_from([None, "[part]"]),
)
steps = (
    phases
    | st.builds(Started, st.sampled_from([A, B, C]))
    | st.builds(finished, st.sampled_from([A, B, C]), passed=st.booleans())
)
streams = st.lists(steps, max_size=20)


@pytest.mark.parametrize(
    ("reported", "outcome"),
    [
        pytest.param([], "passed", id="nothing to report"),
        pytest.param([phase()], "failed", id="call"),
        pytest.param([phase(when="setup")], "error", id="setup"),
        pytest.param([phase(when="teardown")], "error", id="teardown"),
        pytest.param([phase(), phase(when="teardown")], "failed", id="call and teardown"),
        pytest.param([phase(when="setup"), phase(when="teardown")], "error", id="setup and teardown"),
        pytest.param([phase(outcome="skipped", when="setup")], "skipped", id="skip"),
        pytest.param([phase(outcome="skipped", xfail="known")], "skipped", id="xfail"),
        pytest.param([phase(outcome="passed", xfail="known")], "passed", id="xpass"),
        pytest.param(
            [phase(outcome="skipped", when="setup"), phase(when="teardown")], "error", id="skip, then teardown"
        ),
        pytest.param([phase(subtest="[part]"), phase(outcome="passed")], "failed", id="subtest"),
        pytest.param([phase(outcome="skipped", subtest="[part]")], "passed", id="skipped subtest"),
        pytest.param([phase(outcome="rerun")], "passed", id="passed when repeated"),
        pytest.param([phase(outcome="rerun"), phase()], "failed", id="failed when repeated"),
    ],
)
def test_every_combination_of_reports_is_one_outcome(reported: list[Phase], outcome: str) -> None:
    node_id = "test_a.py::test_one"

    kept = ledger(*one_test(node_id, *reported))

    assert kept.tests[node_id].outcome == outcome


def test_a_test_that_has_not_come_to_its_end_has_no_outcome_unless_it_failed_already() -> None:
    again, only_set_up = [*one_test("again"), Started("again")], [Started(C), finished(C, passed=False)]
    kept = ledger(Started(B), phase(B), Started(A), *again, *only_set_up)

    assert [kept.tests[name].outcome for name in (A, B, C, "again")] == [None, "failed", None, None]
    assert list(kept.running) == [B, A, "again"]
    assert [record.node_id for record in kept.completed] == [B]


def test_a_test_that_a_plugin_repeats_counts_once_and_takes_the_time_of_all_its_attempts() -> None:
    kept = ledger(*one_test(A, phase(A, outcome="rerun"), duration=0.5), *one_test(A, duration=0.25))

    assert kept.finished == 1
    assert kept.tests[A].outcome == "passed"
    assert kept.tests[A].repeated
    assert kept.tests[A].duration == 0.75


def test_with_workers_tests_and_their_warnings_keep_the_order_of_the_collection() -> None:
    def warned(node_id: str | None, when: str) -> Warned:
        return Warned("w", "UserWarning", when, "a.py", 1, node_id)

    events: list[Event] = [
        Distributed(2),
        warned(None, "collect"),
        StartedAt(C, 2),
        StartedAt(A, 0),
        warned(C, "runtest"),
    ]
    events += [finished(C), warned(A, "runtest"), finished(A), StartedAt(B, 1), finished(B), warned(None, "config")]

    kept = ledger(*events)

    assert [record.node_id for record in kept.completed] == [A, B, C]
    assert [warning.id for warning in kept.warnings_in_order] == [None, A, C, None]


def test_a_test_that_only_its_worker_knows_of_is_running() -> None:
    kept = ledger(Distributed(2), Selected(2), WorkerStack(A, ["test_a.py:1: in a"]), WorkerStack(None, []))

    assert list(kept.running) == [A]
    assert kept.not_run == 1


@given(streams)
def test_counts_are_those_of_tests_whatever_order_the_events_come_in(stream: list[Event]) -> None:
    kept = ledger(*stream)

    outcomes = Counter(record.outcome for record in kept.tests.values())
    assert kept.failed == outcomes["failed"] + outcomes["error"]
    assert kept.finished <= len(kept.tests)
    assert kept.finished >= sum(record.finished for record in kept.tests.values())
    assert len(kept.completed) == len(kept.tests) - outcomes[None]


@given(streams)
def test_a_running_test_is_one_that_started_and_did_not_finish_since(stream: list[Event]) -> None:
    kept = ledger(*stream)

    last = {event.id: type(event) for event in stream if isinstance(event, (Started, Finished))}
    assert set(kept.running) == {node_id for node_id, kind in last.items() if kind is Started}


@given(streams, st.data())
def test_tests_do_not_depend_on_how_their_events_mix(stream: list[Event], data: st.DataObject) -> None:
    """As with workers: the events of each test keep their order, those of different tests come as they like."""
    by_test = {name: [event for event in stream if getattr(event, "id", None) == name] for name in (A, B, C)}
    order = data.draw(st.permutations([name for name, own in by_test.items() for _ in own]))
    queues = {name: iter(own) for name, own in by_test.items()}

    mixed = ledger(*(next(queues[name]) for name in order))

    apart = ledger(*stream)
    assert mixed.tests == apart.tests
    assert (mixed.failed, mixed.finished, set(mixed.running)) == (apart.failed, apart.finished, set(apart.running))


@given(st.integers(1, 30), st.sets(st.integers(1, 30)))
def test_every_record_that_is_missing_before_the_last_one_is_counted_as_lost(count: int, missing: set[int]) -> None:
    kept = Ledger()
    arrived = [number for number in range(1, count + 1) if number not in missing]

    for number in arrived:
        kept.take(Record(number, SessionStarted()))

    assert kept.lost == max(arrived, default=0) - len(arrived)


def test_a_record_with_a_number_that_was_there_before_hides_no_gap() -> None:
    """As a test can write one: what it repeats is not a record that arrived late."""
    kept = Ledger()

    for number in (1, 2, 2, 1, 5, 3):
        kept.take(Record(number, SessionStarted()))

    assert (kept.lost, kept.last_number) == (2, 5)


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(0, 2000))
def test_the_text_of_failures_is_kept_until_there_is_too_much_of_it(sizes: list[int], limit: int) -> None:
    kept = Ledger(kept_text=limit)

    for number, size in enumerate(sizes):
        kept.add(phase(str(number), message="x" * size, traceback=None))

    held = [sum(sizes[: number + 1]) <= limit for number in range(len(sizes))]
    assert kept.failed == len(sizes)
    assert kept.shortened == held.count(False)
    assert all(
        len(test.phases[0].message or "") <= max(size, SHORTENED_TEXT + 100)
        for test, size in zip(kept.tests.values(), sizes, strict=True)
    )


def test_so_many_warnings_are_kept_and_all_are_counted() -> None:
    kept = Ledger(kept_warnings=2)

    for number in range(5):
        kept.add(Warned(str(number), "UserWarning", "runtest", "a.py", 1, None))

    assert ([warning.message for warning in kept.warnings], kept.more_warnings, kept.lost) == (["0", "1"], 3, 0)


def test_what_tests_do_after_the_order_to_end_does_not_count() -> None:
    late = [*one_test("a")[1:], *one_test("b"), ended()]
    book = ledger(Selected(3), Started("a"), Ending(), *late)

    assert (list(book.running), book.completed, book.not_run, book.ended) == (["a"], [], 2, None)


def test_workers_get_no_signal_so_that_what_they_report_late_counts() -> None:
    book = ledger(Distributed(2), Started("a"), Ending(), *one_test("a")[1:])

    assert [record.node_id for record in book.completed] == ["a"]


def test_not_run_are_the_selected_tests_that_never_started() -> None:
    assert ledger(Selected(5), *one_test(A), Started(B)).not_run == 3
    assert ledger(Selected(1), *one_test(A), *one_test(B)).not_run == 0
    assert ledger().not_run == 0


def test_the_largest_selection_of_several_workers_counts_and_deselected_tests_add_up() -> None:
    kept = ledger(Selected(3), Deselected(2, [A, B]), Selected(5), Deselected(1, None), Selected(4), Deselected(1, [C]))

    assert (kept.selected, kept.deselected, kept.deselected_ids) == (5, 4, {A, B, C})
    assert (ledger(Selected(0)).selected, ledger().selected) == (0, None)


def test_only_the_first_end_of_a_session_counts() -> None:
    """A test that runs pytest inside itself could append another."""
    kept = ledger(ended(1), ended(0))

    assert kept.ended == ended(1)


def test_everything_that_comes_more_than_once_is_kept_in_order() -> None:
    broken, more = uncollected("a.py"), uncollected("b.py")
    elsewhere = [ImportedElsewhere(name, f"/other/{name}.py", f"{name}.py") for name in ("x", "y")]

    kept = ledger(SessionStarted(), broken, absent("c.py"), *elsewhere, more, absent("d.py"))

    assert kept.session_started
    assert kept.collection_failures == [broken, more]
    assert kept.skipped_modules == [absent("c.py"), absent("d.py")]
    assert kept.imported_elsewhere == elsewhere


def test_an_event_without_a_place_is_a_bug_and_not_passed_over() -> None:
    with pytest.raises(KeyError):
        Ledger().add(Item("a", [], "a", 1))


FORGED = [
    pytest.param(lambda n: Started(f"x{n}"), id="started"),
    pytest.param(lambda n: finished(f"x{n}"), id="finished"),
    pytest.param(lambda n: phase("x", message=str(n)), id="phases of one test"),
    pytest.param(lambda n: phase(f"x{n}", stage={"a": [[]] * 9}), id="phases"),
    pytest.param(lambda n: item(f"x{n}"), id="items"),
    pytest.param(lambda n: absent(f"x{n}"), id="skipped modules"),
    pytest.param(lambda n: uncollected(f"x{n}"), id="uncollected"),
    pytest.param(lambda n: Deselected(1, [f"x{n}"]), id="deselected"),
    pytest.param(lambda n: ImportedElsewhere(f"x{n}", "", ""), id="imported elsewhere"),
    pytest.param(lambda n: Collected({"a": [[n]] * 9}), id="collectors"),
]


@pytest.mark.parametrize("forged", FORGED)
def test_a_ledger_keeps_so_much_and_counts_the_rest_as_lost(forged: Callable[[int], Event]) -> None:
    kept = Ledger(kept_bytes=50_000)

    for number in range(1000):
        kept.add(forged(number))

    assert weight([kept.collection_failures, kept.skipped_modules]) <= 60_000
    assert len(kept.tests) + len(kept.items) + len(kept.deselected_ids) + len(kept.collectors) < 900
    assert sum(len(test.phases) for test in kept.tests.values()) < 900
    assert kept.lost > 100


def test_a_failure_that_there_is_no_room_for_is_still_a_failure() -> None:
    kept = Ledger(kept_bytes=1000)

    for event in one_test(A, phase(A, message="no " * 1000)):
        kept.add(event)

    assert (kept.tests[A].outcome, kept.failed, kept.lost) == ("failed", 1, 1)
