"""What was named and did not run, in real projects. Wording may change; what is named may not."""

import pytest

from tests.support.workbench import NEWEST, PYTESTS, Workbench

SLOW = """
import pytest

@pytest.mark.slow
def test_slow(): pass

def test_quick(): pass
"""
MARKS = "[pytest]\nmarkers = slow\naddopts = {}\n"
NOT_SLOW = '-m "not slow"'
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


async def test_what_the_callers_own_filters_leave_out_is_not_missed(bench: Workbench) -> None:
    bench.write({"pytest.ini": MARKS.format(NOT_SLOW), "test_a.py": SLOW, "test_b.py": "def test_b(): pass\n"})

    by_keywords = await bench.execute(node_ids=["test_a.py::test_quick", "test_b.py"], keywords="quick")
    by_markers = await bench.execute(node_ids=["test_a.py::test_slow", "test_b.py"], markers="slow")

    assert [(each["verdict"], each["notices"]) for each in (by_keywords, by_markers)] == [("passed", [])] * 2


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
