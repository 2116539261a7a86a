"""What was named and did not run: the rule, then real projects. Wording may change; what is named may not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.targets import Target
from pytest_mcp.report.selection import MissedTarget, missed_targets, unrun
from pytest_mcp.run.events import Event, TargetLeftOut, TargetsCompared
from tests.support.invented.records import BOUNDS, absent, green, ledger, session
from tests.support.workbench import NEWEST, PYTESTS, Workbench

SLOW = """
import pytest

@pytest.mark.slow
def test_slow(): pass

def test_quick(): pass
"""
MARKS = "[pytest]\nmarkers = slow\naddopts = {}\n"
NOT_SLOW = '-m "not slow"'


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


# --- with real projects ------------------------------------------------------------------------

HOOK = "def pytest_collection_modifyitems({}):\n    {}\n"
# What keeps the slow test from running, and how the notice names it.
LEAVES_OUT: dict[str, tuple[dict[str, str], str]] = {
    "-m": ({"pytest.ini": MARKS.format(NOT_SLOW)}, "'-m not slow'"),
    "-k": ({"pytest.ini": MARKS.format('-k "not slow"')}, "'-k not slow'"),
    "--deselect": ({"pytest.ini": MARKS.format("--deselect=test_a.py::test_slow")}, "test_a.py::test_slow"),
    "a conftest that says so": (
        {
            "pytest.ini": MARKS.format("-q"),
            "conftest.py": HOOK.format("config, items", "config.hook.pytest_deselected(items=[items.pop(0)])"),
        },
        "'conftest.py'",
    ),
    "a conftest that does not": (
        {"pytest.ini": MARKS.format("-q"), "sub/x.py": "", "conftest.py": HOOK.format("items", "del items[0]")},
        "'conftest.py'",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("environment", "how"),
    [*((NEWEST, how) for how in LEAVES_OUT), (PYTESTS[0], "-m"), (PYTESTS[0], "a conftest that does not")],
)
async def test_a_named_test_that_was_left_out_makes_the_run_incomplete(
    bench: Workbench, environment: str, how: str
) -> None:
    files, named = LEAVES_OUT[how]
    bench.write({"test_a.py": SLOW, **files})

    answer = await bench.using(environment).execute(node_ids=["test_a.py::test_slow", "test_a.py::test_quick"])

    assert (answer["verdict"], answer["summary"]["passed"]) == ("incomplete", 1)
    (sentence,) = answer["notices"]
    assert "test_a.py::test_slow" in sentence
    assert "test_quick" not in sentence
    assert named in sentence


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["-m", "a conftest that does not"])
async def test_under_xdist_it_does_too(bench: Workbench, how: str) -> None:
    files, named = LEAVES_OUT[how]
    bench.write({"test_a.py": SLOW, **files})
    bench.write({"pytest.ini": files["pytest.ini"].rstrip("\n") + " -n1\n"})

    answer = await bench.execute(node_ids=["test_a.py::test_slow", "test_a.py::test_quick"])

    assert (answer["verdict"], answer["summary"]["passed"]) == ("incomplete", 1)
    assert named in answer["notices"][0]


@pytest.mark.anyio
async def test_an_id_that_is_not_there_is_refused_under_xdist_even_if_its_file_is_named_too(bench: Workbench) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": "def test_a(): pass\n"})

    failure = await bench.refused("execute_tests", node_ids=["test_a.py", "test_a.py::test_gone"])

    assert (failure.code, failure.data["field"]) == (-32602, "node_ids.1")


@pytest.mark.anyio
async def test_a_test_in_a_group_of_xdist_has_run(bench: Workbench) -> None:
    source = "import pytest\n@pytest.mark.xdist_group('one')\ndef test_a(): pass\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1 --dist=loadgroup\n", "test_a.py": source})

    answer = await bench.execute(node_ids=["test_a.py::test_a"])

    assert (answer["verdict"], answer["notices"]) == ("passed", [])


@pytest.mark.anyio
async def test_what_the_callers_own_filters_leave_out_is_not_missed(bench: Workbench) -> None:
    bench.write({"pytest.ini": MARKS.format(NOT_SLOW), "test_a.py": SLOW, "test_b.py": "def test_b(): pass\n"})

    by_keywords = await bench.execute(node_ids=["test_a.py::test_quick", "test_b.py"], keywords="quick")
    by_markers = await bench.execute(node_ids=["test_a.py::test_slow", "test_b.py"], markers="slow")

    assert [(each["verdict"], each["notices"]) for each in (by_keywords, by_markers)] == [("passed", [])] * 2


@pytest.mark.anyio
async def test_a_named_folder_has_run_if_anything_of_it_has(bench: Workbench) -> None:
    files = {"unit/test_a.py": SLOW, "slow/test_b.py": SLOW.replace("test_quick", "check"), "none/test_c.py": ""}
    bench.write({"pytest.ini": MARKS.format(NOT_SLOW), **files})

    part = await bench.execute(node_ids=["unit"])
    whole = await bench.execute(node_ids=["unit", "slow", "none"])

    assert (part["verdict"], part["notices"]) == ("passed", [])
    assert whole["verdict"] == "incomplete"
    deselected, empty = whole["notices"]
    assert ("slow" in deselected, "'-m not slow'" in deselected) == (True, True)
    assert "found no test" in empty
    assert "none" in empty


@pytest.mark.anyio
async def test_named_tests_of_which_none_ran_are_no_tests(bench: Workbench) -> None:
    bench.write({"pytest.ini": MARKS.format(NOT_SLOW), "test_a.py": SLOW})

    answer = await bench.execute(node_ids=["test_a.py::test_slow"])

    assert answer["verdict"] == "no_tests"
    assert len(answer["notices"]) == 1


@pytest.mark.anyio
async def test_a_hook_that_is_no_function_hides_nothing(bench: Workbench) -> None:
    hook = """
    class Hook:
        def __call__(self, items): del items[0]
    def pytest_configure(config):
        class Plugin: pass
        plugin = Plugin()
        plugin.pytest_collection_modifyitems = Hook().__call__
        config.pluginmanager.register(plugin)
    """
    bench.write({"pytest.ini": MARKS.format("-q"), "test_a.py": SLOW, "conftest.py": hook})

    answer = await bench.execute(node_ids=["test_a.py::test_slow", "test_a.py::test_quick"])

    assert (answer["verdict"], len(answer["notices"])) == ("incomplete", 1)
