"""`changed`: real repositories, real runs. What a change reaches is tested in `tests/unit/changed`."""

from typing import Any

import pytest

from tests.support.commands.terminals import piped
from tests.support.git import commit_all
from tests.support.workbench import Workbench

FILES = {
    "low.py": "VALUE = 1\n",
    "high.py": "from low import VALUE\n",
    "test_a_high.py": "from high import VALUE\ndef test_high(): assert VALUE == 1\n",
    "test_b_low.py": "from low import VALUE\ndef test_low(): assert VALUE == 1\ndef test_again(): assert VALUE == 1\n",
    "test_c_alone.py": "def test_alone(): pass\n",
}


@pytest.fixture
def repository(bench: Workbench) -> Workbench:
    bench.write(FILES)
    commit_all(bench.root)
    return bench


def ran(result: dict[str, Any]) -> list[str]:
    return [test["node_id"] for test in result["tests"]]


@pytest.mark.parametrize("workers", [None, 2])
async def test_only_tests_that_the_change_can_reach_run_nearest_first(
    repository: Workbench, workers: int | None
) -> None:
    repository.write({"low.py": "VALUE = 2\n"})

    result = await repository.execute(changed="HEAD", detail="tests", workers=workers)

    assert result["verdict"] == "failed"
    assert result["summary"]["total"] == 3
    assert ran(result) == ["test_b_low.py::test_low", "test_b_low.py::test_again", "test_a_high.py::test_high"]
    assert result["notices"] == [
        "changed since HEAD: 3 of 4 tests can be reached (1 file changed); not a run of the whole suite.",
        *(["Ran on 2 workers."] if workers else []),
    ]
    assert "deselected" not in result["text_output"]
    assert workers or ran(await repository.execute(changed="HEAD", failfast=True)) == ["test_b_low.py::test_low"]


EDITED = {"high.py": "from low import VALUE as LOW\nVALUE = LOW\n"}
REACHED: dict[str, tuple[dict[str, str], str, str]] = {
    "no change": ({}, "no_tests", "no file, so no test was selected."),
    "a file that no test imports": ({"unused.py": ""}, "no_tests", "0 of 4 tests can be reached (1 file changed)"),
    "moved lines and comments": ({"low.py": "# as it is\n\nVALUE = 1\n"}, "no_tests", "0 of 4 tests can be reached"),
    "a file that any test may read": (
        {"data.json": "{}", **EDITED},
        "passed",
        "everything, because data.json changed, and any test may use it.",
    ),
}


@pytest.mark.parametrize("what", REACHED)
async def test_what_a_change_reaches_is_told(repository: Workbench, what: str) -> None:
    changes, verdict, notice = REACHED[what]
    repository.write(changes)

    result = await repository.execute(changed="HEAD")

    assert (result["verdict"], result["summary"]["total"]) == (verdict, 0 if verdict == "no_tests" else 4)
    assert result["notices"][0].startswith(f"changed since HEAD: {notice}")


async def test_a_new_test_runs_and_a_deleted_module_reaches_what_imported_it(repository: Workbench) -> None:
    repository.write({"test_d_new.py": "def test_new(): pass\n"})
    (repository.root / "high.py").unlink()

    result = await repository.execute(changed="HEAD")

    assert result["verdict"] == "failed"
    assert [error["file"] for error in result["collection_errors"]] == ["test_a_high.py"]
    found = await repository.discover(changed="HEAD")
    assert [test["node_id"] for test in found["tests"]] == ["test_d_new.py::test_new"]


async def test_what_is_named_and_cannot_be_reached_makes_the_run_no_failure(repository: Workbench) -> None:
    repository.write(EDITED)

    result = await repository.execute(changed="HEAD", node_ids=["test_a_high.py", "test_b_low.py::test_low"])

    assert result["verdict"] == "passed"
    assert ran(result) == ["test_a_high.py::test_high"]
    assert result["notices"] == [
        "changed since HEAD: 1 of 2 tests can be reached (1 file changed); not a run of the whole suite.",
        "Named in the call, but not reached by the change: test_b_low.py::test_low.",
    ]


async def test_a_discovery_lists_what_can_be_reached(repository: Workbench) -> None:
    repository.write(EDITED)

    result = await repository.discover(changed="HEAD")

    assert [test["node_id"] for test in result["tests"]] == ["test_a_high.py::test_high"]
    assert result["notices"] == [
        "changed since HEAD: 1 of 4 tests can be reached (1 file changed); not the whole suite."
    ]


async def test_a_discovery_tells_the_way_from_each_file_to_the_change(repository: Workbench) -> None:
    repository.write({"low.py": "VALUE = 2\n"})

    result = await repository.discover(changed="HEAD", detail="tests")

    assert {file["file"]: file["why"] for file in result["files"]} == {
        "test_a_high.py": "test_a_high.py ← VALUE",
        "test_b_low.py": "test_b_low.py ← VALUE",
    }
    assert "test_a_high.py ← VALUE" not in piped(repository, "discover", "--changed=HEAD").stdout


async def test_tests_that_are_no_python_files_are_kept(repository: Workbench) -> None:
    repository.write({"pytest.ini": "[pytest]\naddopts = --doctest-glob=*.txt\n", "test_text.txt": ">>> 1\n1\n"})
    commit_all(repository.root)
    repository.write(EDITED)

    result = await repository.execute(changed="HEAD")

    assert ran(result) == ["test_a_high.py::test_high", "test_text.txt::test_text.txt"]


@pytest.mark.parametrize("value", ["nowhere", "-x", 1])
async def test_what_is_no_ref_is_refused(repository: Workbench, value: object) -> None:
    failure = await repository.refused("execute_tests", changed=value)

    assert failure.code == -32602
    assert failure.data["field"] == "changed"


async def test_outside_of_a_repository_it_is_refused(bench: Workbench) -> None:
    bench.write({"test_a.py": "def test_a(): pass\n"})

    failure = await bench.refused("discover_tests", changed=True)

    assert (failure.code, failure.data["field"]) == (-32602, "changed")


def test_on_the_command_line_the_ref_may_be_left_out(repository: Workbench) -> None:
    repository.write(EDITED)

    listed = (
        piped(repository, "discover", "--changed", "--path", "test_a_high.py").stdout
        + piped(repository, "discover", "--changed=HEAD").stdout
    )

    assert listed.split() == ["test_a_high.py::test_high"] * 2
