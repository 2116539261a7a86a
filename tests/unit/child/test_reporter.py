"""`child/reporter.py` in tiny sessions: which records it writes, without a server that reads them."""

from pathlib import Path
from typing import Any, TypeVar

import pytest

from pytest_mcp.run import events
from pytest_mcp.run.events import Event
from tests.support.child import events_of, records_of
from tests.support.invented.streams import WORDS

Kind = TypeVar("Kind", bound=Event)
FINE = "def test_fine(): pass\n"
MANY = "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_n(n): assert n != 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def of_kind(kind: type[Kind], told: list[Event]) -> list[Kind]:
    return [event for event in told if type(event) is kind]


def test_a_session_is_told_from_its_start_to_its_end_in_records_that_count_up(root: Path) -> None:
    records = records_of(root, {"test_a.py": MANY})

    kinds = [WORDS[type(record.event)] for record in records]
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert kinds == [
        *("hello", "configured", "session_started", "selected", "started", "finished"),
        *("started", "phase", "finished", "started", "finished", "session_ended"),
        # Why it has not passed may lie in what pytest ran with.
        *("portrait", "returned"),
    ]
    (ended,) = (record.event for record in records if isinstance(record.event, events.SessionEnded))
    assert (ended.exit_status, ended.collected, ended.json_exit_code, ended.stopped) == (1, 3, 1, None)


def test_a_test_that_passes_has_no_phase_and_one_that_does_not_has_those_that_matter(root: Path) -> None:
    source = """
        import pytest, sys
        def test_passes(): print("nobody reads this")
        def test_fails(): print("read this"); assert 0
        def test_skips(): pytest.skip("later")
        @pytest.mark.xfail(reason="known")
        def test_xfails(): assert 0
        @pytest.fixture
        def broken(): yield; sys.exit("late")
        def test_teardown(broken): pass
    """

    told = events_of(root, {"test_a.py": source})

    phases = of_kind(events.Phase, told)
    assert [(phase.id.partition("::")[2], phase.when, phase.outcome, phase.xfail) for phase in phases] == [
        ("test_fails", "call", "failed", None),
        # What was captured is known only now.
        ("test_fails", "teardown", "passed", None),
        ("test_skips", "call", "skipped", None),
        ("test_xfails", "call", "skipped", "known"),
        ("test_teardown", "teardown", "failed", None),
    ]
    assert phases[0].sections == [("Captured stdout call", "read this\n")]
    assert (phases[2].message, phases[0].location) == ("later", ("test_a.py", 4))
    assert [test.passed for test in of_kind(events.Finished, told)] == [True, False, False, False, False]


def test_whatever_a_plugin_puts_into_a_report_the_outcome_is_told_and_pytest_goes_on(root: Path) -> None:
    conftest = """
        import pytest
        class Odd:
            def __getattr__(self, name): raise RuntimeError(name)
            def __str__(self): raise RuntimeError("no text")
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(item):
            report = (yield).get_result()
            if report.failed: report.longrepr = report.sections = report.wasxfail = Odd()
    """

    told = events_of(root, {"conftest.py": conftest, "test_a.py": MANY})

    (phase,) = (phase for phase in of_kind(events.Phase, told) if phase.when == "call")
    assert phase.outcome == "failed"
    assert "cannot be shown" in (phase.traceback or "")
    assert len(of_kind(events.Finished, told)) == 3
    assert of_kind(events.Returned, told) == [events.Returned(1)]


def test_a_report_that_cannot_be_described_is_told_as_unreported(root: Path) -> None:
    conftest = """
        import pytest
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(call):
            report = (yield).get_result()
            if call.when == "teardown":
                report.__class__ = type("Odd", (type(report),), {"sections": property(lambda self: 1 / 0)})
    """

    told = events_of(root, {"conftest.py": conftest, "test_a.py": "def test_fails(): assert 0\n"})

    unreported = events.Unreported("teardown of test_a.py::test_fails: ZeroDivisionError")
    assert of_kind(events.Unreported, told) == [unreported]
    assert len(of_kind(events.Finished, told)) == 1


def test_what_a_test_writes_to_the_report_does_not_change_the_numbers_of_the_child(root: Path) -> None:
    source = f"""
        def test_forges():
            with open({str(root.parent / "run" / "report")!r}, "a") as report:
                report.write('{{"k":"returned","n":1,"exit_status":0}}\\n{{"k":"hello",')
    """

    records = records_of(root, {"test_a.py": source})

    numbers = [record.number for record in records]
    assert numbers.count(1) == 2
    assert sorted(set(numbers)) == list(range(1, max(numbers) + 1))
    assert type(records[-1].event) is events.Returned


def test_a_collection_has_a_row_for_each_test_and_runs_none(root: Path) -> None:
    source = "class TestA:\n    def test_a(self): assert 0\n"
    args = ["--collect-only", "--verbosity=-2"]

    told = events_of(root, {"test_a.py": source, "test_b.py": MANY}, collect_only=True, args=args)

    (items,) = of_kind(events.Items, told)
    assert items.rows[:2] == [
        ("test_a.py::TestA::test_a", ["TestA"], "test_a", 2),
        ("test_b.py::test_n[0]", [], "test_n", 3),
    ]
    assert of_kind(events.Selected, told) == [events.Selected(4)]
    assert of_kind(events.Started, told) == []


def test_what_deselects_a_named_test_is_told_with_its_name(root: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = -k fine\n", "test_a.py": FINE + "def test_other(): pass\n"}

    told = events_of(root, files, {"node_ids": ["test_a.py::test_other", "test_a.py::test_fine"]})

    assert of_kind(events.TargetLeftOut, told) == [events.TargetLeftOut("test_a.py::test_other", 1, ["-k fine"])]
    assert len(of_kind(events.TargetsCompared, told)) == 1


def test_where_pytest_looked_and_for_what_is_told_if_nothing_is_selected(root: Path) -> None:
    told = events_of(root, {"test_a.py": FINE}, {"keywords": "chekout"})

    (nothing,) = of_kind(events.NothingSelected, told)
    assert nothing == events.NothingSelected(["-k chekout"], ["test_*.py", "*_test.py"], ["."])


def test_exactly_the_tests_of_a_job_run_in_its_order_whatever_the_project_asks_for(root: Path) -> None:
    ids = ["test_a.py::test_n[2]", "test_a.py::test_n[1]", "test_a.py::gone", "test_b.py::test_fine"]
    files = {"pytest.ini": "[pytest]\naddopts = -x -n2\n", "test_a.py": MANY, "test_b.py": FINE, "test_c.py": FINE}

    told = events_of(root, files, ids=ids)

    assert [test.id for test in of_kind(events.Started, told)] == [ids[0], ids[1], ids[3]]
    assert of_kind(events.Deselected, told) == [events.Deselected(2, None)]


ESCAPES: list[tuple[str, Any]] = [
    ("raise SystemExit(3)", (3, "SystemExit")),
    ("raise SystemExit('gone')", (1, "SystemExit")),
    ("raise SystemExit", (0, "SystemExit")),
]


@pytest.mark.parametrize(("statement", "told_as"), ESCAPES)
def test_an_exception_that_leaves_pytest_is_told_with_the_exit_status_that_python_makes_of_it(
    root: Path, statement: str, told_as: tuple[int, str]
) -> None:
    hook = f"def pytest_unconfigure():\n    {statement}\n"

    told = events_of(root, {"conftest.py": hook, "test_a.py": FINE})

    (escaped,), (returned,) = of_kind(events.Escaped, told), of_kind(events.Returned, told)
    assert (returned.exit_status, escaped.error_type) == told_as
    assert "conftest.py" in escaped.traceback


def test_a_long_text_is_cut_in_its_middle_and_the_cut_is_counted_once(root: Path) -> None:
    source = "def test_a(): print('x' * 5000); assert 0\n"

    told = events_of(root, {"test_a.py": source}, text_limit=1000)

    (phase, _) = of_kind(events.Phase, told)
    (ended,) = of_kind(events.SessionEnded, told)
    assert "[... 4001 characters left out ...]" in phase.sections[0][1]
    assert (ended.clipped_texts, ended.clipped_characters) == (1, 4001)
