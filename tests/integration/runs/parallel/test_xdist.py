"""The same facts with pytest-xdist, whose workers report for the tests that they run."""

import pytest

from tests.support.workbench import Workbench

BEFORE = "def test_before(): pass\n"


@pytest.mark.anyio
async def test_xdist_runs_have_the_same_counts_and_messages(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = -n2\n",
            "tests/test_a.py": "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_a(n): assert n != 4\n",
            "tests/test_b.py": "import pytest\ndef test_skips(): pytest.skip('later')\ndef test_gone(nowhere): pass\n",
        }
    )

    answer = await every_bench.execute(detail="tests")

    summary = answer["summary"]
    assert (summary["passed"], summary["failed"], summary["skipped"], summary["errors"]) == (5, 1, 1, 1)
    assert [test["message"] for test in answer["tests"]].count("AssertionError: assert 4 != 4") == 1
    assert answer["verdict"] == "failed"
    # On a busy machine a worker or pytest itself may exit so late that it is killed, and a notice rightly says so.
    assert [notice for notice in answer["notices"] if "killed" not in notice] == []


@pytest.mark.anyio
async def test_a_file_that_cannot_be_collected_is_data_under_xdist_too(bench: Workbench) -> None:
    bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = -n2\n",
            "test_a.py": BEFORE,
            "test_broken.py": "import os\nimport not_there\n",
        }
    )

    answer = await bench.execute()

    (error,) = answer["collection_errors"]
    assert (error["file"], error["error_type"], error["line"]) == ("test_broken.py", "ModuleNotFoundError", 2)
    assert error["message"] == "No module named 'not_there'"
    assert answer["verdict"] == "failed"


@pytest.mark.anyio
async def test_a_crashed_xdist_worker_fails_its_test_by_name(bench: Workbench) -> None:
    source = BEFORE + "import os\ndef test_dies(): os._exit(3)\ndef test_after(): pass\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": source})

    answer = await bench.execute(detail="tests")

    outcomes = {test["node_id"]: test["outcome"] for test in answer["tests"]}
    assert outcomes["test_a.py::test_dies"] == "failed"
    assert answer["verdict"] == "failed"


@pytest.mark.anyio
async def test_files_that_are_no_tests_are_refused_under_xdist_too(bench: Workbench) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "deploy.py": "open('deployed', 'w')\n"})

    failure = await bench.refused("execute_tests", path="deploy.py")

    assert (failure.code, failure.data["field"]) == (-32602, "path")
    assert not (bench.root / "deployed").exists()


@pytest.mark.anyio
async def test_missing_ids_are_named_under_xdist_too(bench: Workbench) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": BEFORE})

    failure = await bench.refused("execute_tests", node_ids=["test_a.py::test_before", "test_a.py::test_gone"])

    assert (failure.code, failure.data["field"]) == (-32602, "node_ids.1")
