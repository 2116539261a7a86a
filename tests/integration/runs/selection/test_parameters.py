"""Every parameter of execute_tests changes what pytest does, through the real server."""

from typing import Any

import pytest

from tests.support.workbench import Workbench

THREE = """
    import sys
    import pytest

    def test_first():
        print("first", "says")
        assert 0, "first"

    @pytest.mark.slow
    def test_second():
        print("second", "says", file=sys.stderr)
        assert 0, "second"

    def test_third(): pass
"""


@pytest.fixture
def three(bench: Workbench) -> Workbench:
    bench.write({"pytest.ini": "[pytest]\nmarkers = slow\ntestpaths = tests\n", "tests/test_three.py": THREE})
    return bench


def names(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return sorted(test["node_id"].partition("::")[2] for test in answer["tests"])


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        ({}, ["test_first", "test_second", "test_third"]),
        ({"node_ids": ["tests/test_three.py::test_third"], "path": "other"}, ["test_other", "test_third"]),
        ({"markers": "slow"}, ["test_second"]),
        ({"keywords": "first or third"}, ["test_first", "test_third"]),
        ({"markers": "not slow", "keywords": "not third", "path": "tests"}, ["test_first"]),
        ({"pattern": "*_spec.py"}, ["test_spec"]),
        ({"maxfail": 2}, ["test_first", "test_second"]),
    ],
)
async def test_each_parameter_selects(three: Workbench, arguments: dict[str, Any], ran: list[str]) -> None:
    three.write({"other/test_other.py": "def test_other(): pass\n", "tests/three_spec.py": "def test_spec(): pass\n"})

    ran_tests, found = await three.execute(**arguments), arguments.keys() <= {"markers", "keywords", "path", "pattern"}

    assert names(ran_tests) == ran
    assert not found or names(await three.discover(**arguments)) == ran


async def test_failfast_stops_at_the_first_failure_and_says_what_did_not_run(three: Workbench) -> None:
    answer = await three.execute(failfast=True)

    assert names(answer) == ["test_first"]
    assert answer["verdict"] == "failed"
    assert "2 of 3 selected tests did not run" in answer["notices"][0]


async def test_show_capture_decides_whether_output_follows_the_traceback(three: Workbench) -> None:
    shown = await three.execute(show_capture=True, verbosity=-2)
    hidden = await three.execute(show_capture=False)
    by_default = await three.execute()
    quiet = await three.execute(verbosity=-1)

    def says(answer: dict[str, list[dict[str, str]]]) -> bool:
        told = "".join(test["traceback"] or "" for test in answer["tests"])
        return "first says" in told and "second says" in told

    assert [says(answer) for answer in (shown, hidden, by_default, quiet)] == [True, False, True, False]


async def test_verbosity_changes_what_pytest_prints(three: Workbench) -> None:
    least, normal, most = [(await three.execute(verbosity=level, detail="full"))["text_output"] for level in (-2, 0, 2)]

    assert "test session starts" not in least
    assert "test session starts" in normal
    assert "test_three.py::test_third PASSED" not in normal
    assert "test_three.py::test_third PASSED" in most


async def test_color_reaches_text_output_and_nothing_else(three: Workbench) -> None:
    plain = await three.execute(detail="full")
    coloured = await three.execute(detail="full", color=True)

    assert "\x1b[" in coloured["text_output"]
    assert "\x1b" not in plain["text_output"]
    assert "\x1b" not in str({key: value for key, value in coloured.items() if key != "text_output"})


COMPARED = """
def test_compared(): assert {"a": [1, 2]} == {"a": [1, 3]}
def test_says_it_itself(): assert "left \\x1b[31m" == "right"
"""


@pytest.mark.parametrize("addopts", ["--code-highlight=yes", "-n1"])
async def test_with_color_a_comparison_reads_as_it_does_without(bench: Workbench, addopts: str) -> None:
    """pytest colours the texts of comparisons while it makes them, and xdist's workers do, too."""
    bench.write({"pytest.ini": f"[pytest]\naddopts = {addopts}\n", "test_a.py": COMPARED})

    ids = ["test_a.py::test_compared", "test_a.py::test_says_it_itself"]

    plain = await bench.execute(node_ids=ids)
    coloured = await bench.execute(node_ids=ids, color=True)
    printed = await bench.execute(node_ids=ids, color=True, detail="full")

    expected, (compared, own) = (
        [f"{test['message']}\n{test['traceback']}" for test in answer["tests"]] for answer in (plain, coloured)
    )
    assert [compared, own] == expected
    assert "\\x1b" not in compared
    assert "\\x1b[31m" in own
    assert "\x1b[" in printed["text_output"]


async def test_last_failed_runs_what_pytests_own_cache_remembers(every_bench: Workbench) -> None:
    bad = "def test_bad(): assert 0\ndef test_good(): pass\n"
    every_bench.write({"test_a.py": bad, "test_b.py": "def test_other(): pass\n"})

    nothing = await every_bench.execute(last_failed=True)
    await every_bench.execute()
    failed = await every_bench.execute(last_failed=True)
    every_bench.write({"test_a.py": bad.replace("0", "1")})
    mended = await every_bench.execute(last_failed=True)
    after = await every_bench.execute(last_failed=True)

    for answer in (nothing, after):
        assert (answer["verdict"], answer["summary"]["total"]) == ("no_tests", 0)
        assert answer["notices"] == ["last_failed: pytest's cache remembers no failure, so nothing ran."]
    assert [test["node_id"] for test in failed["tests"]] == ["test_a.py::test_bad"]
    assert failed["notices"] == ["last_failed: 1 of 3 tests; not a run of the whole suite."]
    assert (mended["verdict"], mended["summary"]["total"]) == ("passed", 1)
