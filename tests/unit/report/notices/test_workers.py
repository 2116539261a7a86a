"""How many workers a run had, and what went otherwise with them."""

from typing import Any

import pytest

from pytest_mcp.report.notices.workers import of_run
from pytest_mcp.run.events import Distributed, Event, Overrun, WorkerDown
from tests.support.invented.records import execution, green, session


def sentences(*told: Event, **asked: Any) -> list[str]:
    run = execution(session(*told, green("test_a.py::a"), selected=1), **asked)
    return of_run(run, run.request)


@pytest.mark.parametrize(
    ("asked", "used", "sentence"),
    [
        (2, 2, "Ran on 2 workers."),
        ("auto", 4, "Ran on 4 workers."),
        ("auto", 1, "Ran in one process."),
        (8, 4, "Ran on 4 workers; 8 were asked for, and the operator's limit (--max-workers) is 4."),
        (8, 1, "Ran in one process; 8 were asked for, and the operator's limit (--max-workers) is 1."),
    ],
)
def test_whoever_asks_for_workers_is_told_how_many_there_were(asked: int | str, used: int, sentence: str) -> None:
    told = [Distributed(used)] if used > 1 else []

    assert sentences(*told, workers=asked) == [sentence]


def test_whoever_asks_for_none_is_told_nothing() -> None:
    assert sentences(Distributed(2)) == sentences(workers=1) == []


def test_workers_that_died_for_one_reason_are_told_by_its_last_line() -> None:
    error = "Traceback (most recent call last):\n  ...\nRuntimeError: no database\n"

    (sentence,) = sentences(Distributed(2), WorkerDown("gw0", error), WorkerDown("gw1", error))

    assert sentence.startswith("2 worker process(es) died ('RuntimeError: no database').")


def test_tests_beyond_the_last_failure_are_counted() -> None:
    (sentence,) = sentences(Distributed(2), Overrun(3))

    assert sentence.startswith("3 more test(s) ran after the failure")
