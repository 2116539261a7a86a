"""Exit 4 in all its forms: whose fault it was decides the answer, on the oldest and the newest pytest."""

import pytest

from tests.support.workbench import NEWEST, PYTESTS, Workbench

FINE = "def test_fine(): pass\n"


async def test_a_missing_file_is_refused_before_anything_starts(bench: Workbench) -> None:
    bench.write({"tests/test_fine.py": FINE, "conftest.py": "open('ran', 'w')\n"})

    failure = await bench.refused("execute_tests", node_ids=["tests/test_typo.py", "tests/test_fine.py"])

    assert failure.code == -32602
    assert failure.data["field"] == "node_ids.0"
    assert failure.data["received_value"] == "tests/test_typo.py"
    assert set(failure.data) == {"field", "detail", "received_value", "validation_errors"}
    assert not (bench.root / "ran").exists()


async def test_a_file_without_its_prefix_and_a_test_without_its_class_are_answered_with_what_was_meant(
    bench: Workbench,
) -> None:
    bench.write({"tests/test_typo.py": "class TestThere:\n    def test_one(self): pass\n"})

    file = await bench.refused("execute_tests", node_ids=["tests/typo.py"])
    method = await bench.refused("execute_tests", node_ids=["tests/test_typo.py::test_one"])

    assert file.message == (
        "Invalid params: node_ids.0: does not exist; did you mean tests/test_typo.py?"
        ' discover_tests lists what there is (received "tests/typo.py")'
    )
    assert "did you mean TestThere::test_one?" in method.message


@pytest.mark.parametrize("between", [" ", ",", ", "])
async def test_several_node_ids_in_one_string_are_told_to_be_entries_of_a_list(bench: Workbench, between: str) -> None:
    bench.write({"test_a.py": "def test_one(): pass\ndef test_two(): pass\n"})

    failure = await bench.refused(
        "execute_tests", node_ids=between.join(["test_a.py::test_one", "test_a.py::test_two"])
    )

    assert "it looks like several node ids; send each as its own entry of the list" in failure.message


@pytest.mark.parametrize("hook", ["pytest_configure(config)", "pytest_sessionstart(session)"])
async def test_a_usage_error_that_a_hook_raises_is_told_in_its_own_words(every_bench: Workbench, hook: str) -> None:
    raises = f"import pytest\n\ndef {hook}:\n    raise pytest.UsageError('set DATABASE_URL first')\n"
    every_bench.write({"test_fine.py": FINE, "conftest.py": raises})

    failure = await every_bench.refused("execute_tests")

    assert (failure.code, failure.data["error_type"], failure.data["exit_code"]) == (-32000, "usage_error", 4)
    assert failure.message.startswith("pytest execution failed: set DATABASE_URL first\n")


TABLE = """
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_row(number): pass
"""


async def test_every_missing_test_is_named(every_bench: Workbench) -> None:
    every_bench.write({"tests/test_fine.py": FINE + "class TestThere:\n    def test_one(self): pass\n"})
    ids = [
        "tests/test_fine.py::test_nowhere",
        "tests/test_fine.py::test_fine",
        "tests/test_fine.py::TestThere::test_two",
    ]

    failure = await every_bench.refused("execute_tests", node_ids=ids)

    assert failure.code == -32602
    assert [fault["field"] for fault in failure.data["validation_errors"]] == ["node_ids.0", "node_ids.2"]
    assert failure.message.startswith(
        f'Invalid params: node_ids.0: was not found; discover_tests lists what there is (received "{ids[0]}")'
    )
    assert all(wanted in failure.message for wanted in (ids[0], ids[2]))
    assert failure.data["exit_code"] == 4
    assert failure.data["error_type"] == "usage_error"
    assert failure.data["stderr"] == ""
    assert failure.data["command"] == []
    assert failure.data["partial"] is None
    covered = await every_bench.refused("execute_tests", node_ids=ids, path="tests")
    assert [fault["field"] for fault in covered.data["validation_errors"]] == ["node_ids.0", "node_ids.2"]
    one_covered = [ids[0] + "[1]", *ids[1:], "tests/test_fine.py::TestThere"]
    partly = await every_bench.refused("execute_tests", node_ids=one_covered)
    assert [fault["field"] for fault in partly.data["validation_errors"]] == ["node_ids.0", "node_ids.2"]
    every_bench.write({"tests/test_table.py": TABLE})
    rows = [f"tests/test_table.py::test_row[{number}]" for number in (1, 2, 3)]
    row = await every_bench.refused("execute_tests", node_ids=rows)
    assert [fault["field"] for fault in row.data["validation_errors"]] == ["node_ids.2"]
    full = await every_bench.refused("execute_tests", node_ids=ids, detail="full")
    assert full.data["command"][1:4] == ["-m", "pytest", ids[0]]


@pytest.mark.parametrize(
    ("where", "arguments"),
    [("conftest.py", {}), ("tests/conftest.py", {"path": "tests"}), ("tests/deep/conftest.py", {})],
)
async def test_a_broken_conftest_is_a_result_with_its_file_line_and_type(
    every_bench: Workbench, where: str, arguments: dict[str, str]
) -> None:
    every_bench.write({"tests/deep/test_fine.py": FINE, where: "import os\nimport not_there\n"})

    answer = await every_bench.execute(**arguments)

    assert answer["verdict"] == "failed"
    assert answer["summary"]["errors"] == answer["summary"]["total"] == 1
    (error,) = answer["collection_errors"]
    assert (error["file"], error["error_type"], error["line"]) == (where, "ModuleNotFoundError", 2)
    assert error["message"] == "No module named 'not_there'"
    assert "not_there" in error["traceback"]
    assert answer["notices"] == ["1 file(s) could not be collected, so pytest ran no test at all."]


async def test_an_id_in_a_file_that_cannot_be_imported_is_that_files_fault(every_bench: Workbench) -> None:
    every_bench.write({"test_broken.py": "import not_there\ndef test_one(): pass\n"})

    answer = await every_bench.execute(node_ids=["test_broken.py::test_one"])

    assert answer["verdict"] == "failed"
    assert [error["file"] for error in answer["collection_errors"]] == ["test_broken.py"]


BROKEN_SETTINGS: dict[str, tuple[dict[str, str | bytes], str]] = {
    "unknown option in addopts": ({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, "--no-such-option"),
    "missing plugin in addopts": ({"pytest.ini": "[pytest]\naddopts = -p no_such_plugin\n"}, "no_such_plugin"),
    "missing required plugin": ({"pytest.ini": "[pytest]\nrequired_plugins = pytest-nowhere\n"}, "pytest-nowhere"),
    "bad ini": ({"pytest.ini": "[pytest\naddopts = -q\n"}, "pytest.ini"),
    "bad toml": ({"pyproject.toml": "[tool.pytest.ini_options\n"}, "pyproject.toml"),
    "bad expression in addopts": ({"pytest.ini": "[pytest]\naddopts = -k 'a(('\n"}, "'-k'"),
    "ini not UTF-8": ({"pytest.ini": b"[pytest]\naddopts = -k \xff\xfe\n"}, "pytest.ini"),
    "TOML not UTF-8": ({"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '\xff'\n"}, "pyproject.toml"),
    "unbalanced quotes": ({"pytest.ini": "[pytest]\naddopts = -k 'a\n"}, "pytest.ini"),
    "bad value": ({"pytest.ini": "[pytest]\naddopts = --maxfail=many\n"}, "maxfail"),
}


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        *((NEWEST, kind) for kind in BROKEN_SETTINGS),
        *((PYTESTS[0], kind) for kind in ("missing required plugin", "bad toml", "bad expression in addopts")),
    ],
)
async def test_broken_settings_are_a_usage_error_that_quotes_them(
    bench: Workbench, environment: str, kind: str
) -> None:
    files, quoted = BROKEN_SETTINGS[kind]
    bench.write({"test_fine.py": FINE, **files})

    failure = await bench.using(environment).refused("execute_tests")

    assert (failure.code, failure.data["error_type"]) == (-32000, "usage_error")
    assert failure.message.startswith("pytest execution failed: ")
    assert quoted in failure.message
    headline, *others = failure.message.splitlines()
    assert "usage: " not in headline
    assert all(line.startswith(("stderr| ", "Collection had not started", "pytest was still")) for line in others)
    assert failure.data["stderr"].strip()
    assert failure.data["environment"]["config_file"] == str(bench.root / next(iter(files)))


async def test_an_expression_only_newer_pytests_know_is_the_callers_parameter(bench: Workbench) -> None:
    old = bench.using("pytest-7.0")
    old.write({"test_fine.py": FINE})

    failure = await old.refused("execute_tests", markers="slow(seconds=3)")

    assert (failure.code, failure.data["field"]) == (-32602, "markers")
    assert failure.data["exit_code"] == 4


async def test_a_file_without_tests_is_not_said_to_be_missing(bench: Workbench) -> None:
    bench.write({"test_it.py": "def test_q(): pass\n", "data.toml": "x = 1\n"})

    failure = await bench.refused("execute_tests", node_ids=["data.toml"])

    assert (failure.code, failure.data["field"]) == (-32602, "node_ids.0")
    assert "not found" not in failure.message
