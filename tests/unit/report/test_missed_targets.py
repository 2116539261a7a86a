"""What was named and did not run; integration/runs/selection has real projects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.targets import Target
from pytest_mcp.report.selection import MissedTarget, missed_targets, unrun
from pytest_mcp.run.events import Event, TargetLeftOut, TargetsCompared
from tests.support.invented.records import BOUNDS, absent, green, ledger, session


def asking(*node_ids: str, **asked: Any) -> ExecuteTests:
    """A request for ids in files that need not exist."""
    targets = []
    for node_id in node_ids:
        path, separator, selector = node_id.partition("::")
        targets.append(Target(BOUNDS.root, path, selector if separator else None, is_file=path.endswith(".py")))
    request = ExecuteTests.model_validate(asked, context=BOUNDS)
    return request.model_copy(update={"node_ids": tuple(targets)})


RAN = ["tests/unit/test_a.py::TestCart::test_total[1-a::b]", "tests/test_b.py::test_one", "test_c.py::test_two@group"]


@pytest.mark.parametrize(
    "name",
    [
        *(".", "tests", "tests/unit", "tests/unit/test_a.py", "tests/unit/test_a.py::TestCart"),
        *("tests/unit/test_a.py::TestCart::test_total", "tests/unit/test_a.py::TestCart::test_total[1-a::b]"),
        *("tests/test_b.py::test_one", "test_c.py::test_two"),
    ],
)
def test_whatever_names_a_test_that_ran_has_run(name: str) -> None:
    assert unrun(asking(name), ledger(*green(*RAN))) == []


@pytest.mark.parametrize(
    "name", ["test", "tests/uni", "tests/unit/test_a.py::TestC", "tests/test_b.py::test_one[1]", "tests/test_b.py::on"]
)
def test_what_only_begins_like_a_test_that_ran_has_not_run(name: str) -> None:
    (target,) = unrun(asking(name), ledger(*green(*RAN)))

    assert target.node_id == name


def test_a_module_that_skips_itself_is_an_answer_to_whoever_named_it() -> None:
    told = ledger(*session(absent("tests/test_absent.py"), selected=0))

    assert unrun(asking("tests/test_absent.py::test_a", "tests/test_absent.py"), told) == []


ids = st.sampled_from(["test_a.py::a", "test_a.py::b", "test_b.py::c", "test_a.py", "sub"])
reasons = st.lists(st.sampled_from(["-m not slow", "-k fast", "--deselect test_a.py::a", "conftest.py"]), max_size=3)


@given(
    named=st.lists(ids, unique=True, min_size=1),
    ran=st.lists(ids.filter(lambda name: "::" in name), unique=True),
    told=st.dictionaries(ids, reasons),
    asked=st.fixed_dictionaries({}, optional={"markers": st.just("x"), "keywords": st.just("x")}),
)
def test_a_target_is_missed_exactly_if_none_of_it_ran_and_more_than_the_callers_own_filters_kept_it_out(
    named: list[str], ran: list[str], told: dict[str, list[str]], asked: dict[str, str]
) -> None:
    events: list[Event] = [TargetLeftOut(name, 1, by) for name, by in told.items()]
    own = tuple(flag for name, flag in (("markers", "-m "), ("keywords", "-k ")) if name in asked)

    found = missed_targets(asking(*named, **asked), ledger(*events, TargetsCompared(), *green(*ran)))

    expected = {
        name
        for name in named
        if name in told
        and not any(f"{test}::".startswith(f"{name}::") for test in ran)
        and (not told[name] or any(not by.startswith(own) for by in told[name]))
    }
    assert {each.node_id for each in found} == expected


def test_of_the_reasons_the_callers_own_are_not_told() -> None:
    told = ledger(TargetLeftOut("test_a.py", 2, ["-k x", "-m not slow"]), TargetsCompared(), *green("test_b.py::b"))

    assert missed_targets(asking("test_a.py", keywords="x"), told) == [MissedTarget("test_a.py", 2, ("-m not slow",))]


def test_a_target_that_did_not_run_and_that_nobody_compared_is_missed_once_the_session_has_ended() -> None:
    stream = green("test_b.py::b")

    assert missed_targets(asking("test_a.py", "test_b.py"), ledger(*stream)) == [
        MissedTarget("test_a.py", 0, ("unknown",))
    ]
    assert missed_targets(asking("test_a.py", "test_b.py"), ledger(*stream[:-1])) == []
