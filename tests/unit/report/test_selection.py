"""Wording may change; that the cause is named may not."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.targets import Target
from pytest_mcp.report.notices import execution_notices
from pytest_mcp.report.selection import MissedTarget, change_notices, missed_targets, selection_notices, unrun
from pytest_mcp.run.events import (
    Deselected,
    Event,
    Marks,
    NothingSelected,
    Selected,
    TargetLeftOut,
    TargetsCompared,
    Unreached,
)
from pytest_mcp.run.run import Reach
from tests.support.invented.records import BOUNDS, absent, discovery, ended, execution, green, ledger, session
from tests.support.workbench import Workbench

A = "test_a.py::a"
NOTHING = NothingSelected(options=[], patterns=["test_*.py"], places=["."])
MARKED = """
import pytest

@pytest.mark.slow
def test_slow(): pass

def test_quick(): pass
"""


def sentences(*told: Event, **asked: Any) -> list[str]:
    return selection_notices(execution(session(*told, selected=0, exit_status=5), code=5, **asked))


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"markers": "slow"}, ["markers"]),
        ({"keywords": "x"}, ["keywords"]),
        ({"markers": "slow", "keywords": "x"}, ["markers", "keywords"]),
        ({}, ["addopts"]),
    ],
)
def test_a_filter_that_left_no_test_is_named(asked: dict[str, str], named: list[str]) -> None:
    (sentence,) = sentences(Deselected(7, None), **asked)

    assert "7" in sentence
    assert [word for word in ("markers", "keywords", "addopts") if word in sentence] == named


def test_of_the_projects_options_those_that_the_call_replaces_are_not_named() -> None:
    known = NOTHING._replace(options=["-m slow", "-k login", "--deselect test_b.py", "--ignore old"])

    (sentence,) = sentences(Deselected(7, None), known, markers="slow")

    assert "markers and the project's own" in sentence
    assert "'-k login', '--deselect test_b.py'" in sentence
    assert "-m slow" not in sentence
    assert "--ignore" not in sentence


def test_tests_that_no_option_deselects_were_deselected_by_the_projects_code() -> None:
    (sentence,) = sentences(Deselected(7, None), NOTHING)

    assert "conftest.py" in sentence


def test_that_there_was_nothing_to_select_is_said_in_both_tools() -> None:
    (executing,) = sentences()
    (discovering,) = selection_notices(discovery([Selected(0), ended(5)], code=5))

    assert executing == discovering
    assert executing.startswith("No test was selected")


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (NOTHING._replace(options=["--ignore old", "-k x"]), ["--ignore old"]),
        (NOTHING._replace(places=["unit", "checks"]), ["'unit', 'checks'", "'test_*.py'"]),
    ],
)
def test_what_there_was_instead_of_tests_is_said(known: NothingSelected, said: list[str]) -> None:
    (sentence,) = sentences(known)

    assert [words for words in said if words in sentence] == said
    assert "-k x" not in sentence


@pytest.mark.parametrize(
    ("markers", "unknown"),
    [
        ("slow or fast", []),
        ("slwo", ["slwo"]),
        ("not slwo and (unit or slwo)", ["slwo", "unit"]),
        ("fast(level='slwo')", []),
    ],
)
def test_a_mark_that_no_test_has_and_that_is_not_registered_is_named(markers: str, unknown: list[str]) -> None:
    run = execution([Marks(registered=["slow"], used=["fast"]), *green(A)], markers=markers)

    assert [sentence.split("'")[1] for sentence in selection_notices(run)] == unknown


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("slwo", "did you mean 'slow'?"),
        ("SLOW", "did you mean 'slow'?"),
        ("db", "did you mean 'DB'?"),
        ("gpu", "registered."),
    ],
)
def test_marks_that_are_close_in_any_case_are_suggested(asked: str, meant: str) -> None:
    (sentence,) = selection_notices(execution([Marks(["slow"], ["fast", "DB"]), *green(A)], markers=asked))

    assert sentence.endswith(meant)


# --- with real projects ------------------------------------------------------------------------


async def test_a_mistyped_mark_is_told_whether_or_not_tests_were_selected(every_bench: Workbench) -> None:
    every_bench.write({"pytest.ini": "[pytest]\nmarkers = slow(n): takes long\n", "test_a.py": MARKED})

    none = await every_bench.execute(markers="slwo")
    both = await every_bench.discover(markers="slow or not slwo")

    typo = "No collected test has the mark 'slwo', and it is not registered; did you mean 'slow'?"
    assert none["notices"] == ["No test was selected: 2 were collected and all were deselected by markers.", typo]
    assert (both["count"], both["notices"]) == (2, [typo])


async def test_a_mark_that_a_conftest_gives_is_known(bench: Workbench) -> None:
    hook = "def pytest_collection_modifyitems(items):\n    for item in items: item.add_marker('nightly')\n"
    bench.write({"conftest.py": hook, "test_a.py": "def test_a(): pass\n"})

    chosen, left = await bench.execute(markers="nightly"), await bench.discover(markers="not nightly")

    assert not [notice for notice in (*chosen["notices"], *left["notices"]) if "No collected test" in notice]
    assert (chosen["summary"]["total"], left["count"]) == (1, 0)


@pytest.mark.parametrize("workers", ["", " -n1"])
async def test_that_others_did_not_run_is_told_of_last_failed_only_if_it_is_so(bench: Workbench, workers: str) -> None:
    files = {"test_a.py": "def test_a(): pass\ndef test_b(): assert 0\n", "test_c.py": "def test_c(): pass\n"}
    bench.write({"pytest.ini": f"[pytest]\naddopts = --lf{workers}\n", **files})

    discovered = await bench.discover()
    first = await bench.execute()
    second = await bench.execute()

    assert (discovered["count"], discovered["notices"]) == (3, [])
    assert (first["summary"]["total"], first["notices"]) == (3, [])
    (sentence,) = second["notices"]
    assert second["summary"]["total"] == 1
    assert "--lf" in sentence
    assert "others did not run" in sentence


async def test_a_test_that_last_failed_hides_from_pytest_is_refused_with_that_reason(bench: Workbench) -> None:
    files = {"test_a.py": "def test_a(): assert 0\n", "test_c.py": "def test_c(): pass\n"}
    bench.write({"pytest.ini": "[pytest]\naddopts = --lf\n", **files})
    await bench.execute()

    failure = await bench.refused("execute_tests", node_ids=["test_a.py::test_a", "test_c.py::test_c"])

    assert (failure.code, failure.data["field"]) == (-32602, "node_ids.1")
    assert "--lf" in failure.message


OPTIONS = {"-m": "-m quick", "-k": "-k nowhere", "--deselect": "--deselect test_a.py"}


@pytest.mark.parametrize("option", OPTIONS)
async def test_an_option_of_the_project_that_deselects_everything_is_quoted(bench: Workbench, option: str) -> None:
    ini = f"[pytest]\nmarkers =\n    slow\n    quick\naddopts = {OPTIONS[option]}\n"
    bench.write({"pytest.ini": ini, "test_a.py": MARKED})

    (sentence,) = (await bench.execute())["notices"]

    assert sentence.startswith("No test was selected: 2 were collected")
    assert f"'{OPTIONS[option]}'" in sentence


async def test_a_folder_without_tests_is_told_with_the_names_of_files_that_were_looked_for(bench: Workbench) -> None:
    ini = "[pytest]\npython_files = check_*.py\ntestpaths = src\n"
    files = {"src/shop/__init__.py": "", "src/shop/cart.py": "", "src/.venv/hidden.py": "", "check_a.py": MARKED}
    bench.write({"pytest.ini": ini, **files})

    (there,) = (await bench.execute(path="src/shop"))["notices"]
    (by_default,) = (await bench.discover())["notices"]

    assert there == "No test was selected: pytest collected none there; python_files is 'check_*.py'."
    assert "in 'src'" in by_default


async def test_under_xdist_a_filter_that_left_nothing_is_named_with_its_count_if_workers_report_it(
    bench: Workbench,
) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": "def test_a(): pass\n"})
    (counted,) = (await bench.execute(keywords="nowhere"))["notices"]
    bench.write({"conftest.py": "def pytest_configure_node(node): del node.workerinput['pytest_mcp']\n"})

    (uncounted,) = (await bench.execute(keywords="nowhere"))["notices"]

    assert counted == "No test was selected: 1 were collected and all were deselected by keywords."
    assert uncounted == "No test was selected: pytest collected none matching keywords."


def test_an_id_that_is_too_long_for_a_call_is_not_blamed_on_its_path() -> None:
    (notice,) = selection_notices(execution(green(f"test_a.py::a[{'x' * 5000}]")))

    assert "more than 4,096 characters; leave out their parameters" in notice
    assert "symlink" not in notice


# --- on `changed`: such an answer never reads like one about the whole suite ---

HUB = "src/click/__init__.py imports every module"
REACH = Reach("main", 5, ("a.py",), ("b.py",), hub=HUB)
ONE = green("a.py::test_a")


@pytest.mark.parametrize(
    ("reach", "told", "sentence"),
    [
        (
            REACH,
            [Unreached(949)],
            "changed since main: 1 of 950 tests can be reached (5 files changed); not a run of the whole suite.",
        ),
        (
            replace(REACH, changed=1),
            [Unreached(1)],
            "changed since main: 1 of 2 tests can be reached (1 file changed); not a run of the whole suite.",
        ),
        (
            replace(REACH, always=("tests/test_tool.py (starts processes)", "b.py (looks for files)")),
            [Unreached(3)],
            (
                "changed since main: 1 of 4 tests can be reached (5 files changed); not a run of the whole suite."
                " Every change reaches tests/test_tool.py (starts processes), b.py (looks for files)."
            ),
        ),
        (REACH, [Unreached(0)], f"changed since main: everything, because {HUB}."),
        (
            replace(REACH, reason="uv.lock changed, and any test may use it"),
            [Unreached(0)],
            "changed since main: everything, because uv.lock changed, and any test may use it.",
        ),
        (REACH, [], "changed since main: everything, because pytest-xdist's workers chose the tests themselves."),
    ],
)
def test_the_share_or_the_reason_is_said(reach: Reach, told: list[Unreached], sentence: str) -> None:
    assert change_notices(replace(execution([*ONE, *told]), reach=reach)) == [sentence]


def test_a_discovery_is_no_run() -> None:
    (sentence,) = change_notices(replace(discovery([*ONE, Unreached(3)]), reach=REACH))

    assert sentence.endswith("1 of 4 tests can be reached (5 files changed); not the whole suite.")


def test_tests_that_cannot_be_reached_are_not_said_to_be_deselected_by_the_project() -> None:
    run = execution(session(Deselected(7, None), Unreached(7), selected=0, exit_status=5), code=5, changed=True)

    found = execution_notices(replace(run, reach=REACH))

    assert found == ["changed since main: 0 of 7 tests can be reached (5 files changed); not a run of the whole suite."]


# --- targets that did not run; integration/runs/selection has real projects ---


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
