"""Whatever node id either tool reports can be passed back, and runs exactly that test."""

from typing import Any

import pytest

from tests.support.workbench import NEWEST, Workbench

FINE = "def test_fine(): pass\n"


async def assert_each_id_runs_exactly_itself(bench: Workbench, tests: list[dict[str, Any]]) -> None:
    """Each id is part of another set of calls, as the bits of its number say: no id can stand for a different test."""
    ids = list(dict.fromkeys(test["node_id"] for test in tests))
    assert ids
    for bit in range(len(ids).bit_length()):
        named = [node_id for number, node_id in enumerate(ids, start=1) if number >> bit & 1]
        await assert_runs_exactly(bench, named)


async def assert_runs_exactly(bench: Workbench, ids: list[str]) -> None:
    answer = await bench.execute(node_ids=ids, detail="tests")
    assert [ran["node_id"] for ran in answer["tests"]] == ids, answer


async def test_odd_parameters_nested_classes_and_unittest_methods(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "tests/test_odd.py": """
            import unittest
            import pytest

            VALUES = ["a b", "c/d", "::e", "x::y", "[f]", "]", "--co", "-k", "@g", "g\\nh", "日本", "a=b", "", "%s"]

            class TestOuter:
                class TestInner:
                    @pytest.mark.parametrize("value", VALUES)
                    def test_each(self, value): pass

            class TestUnit(unittest.TestCase):
                def test_method(self): pass
            """
        }
    )

    found = await every_bench.discover()

    assert found["count"] == 15
    await assert_runs_exactly(every_bench, [test["node_id"] for test in found["tests"]])
    # Call by call is slow, and adds little to the order above: once is enough.
    if every_bench.environment == NEWEST:
        await assert_each_id_runs_exactly_itself(every_bench, found["tests"])


async def test_a_monorepo_with_nested_ini_files_has_ids_relative_to_the_root(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['one', 'two', 'plain']\n",
            "one/pytest.ini": "[pytest]\npython_functions = test_* check_*\n",
            "one/tests/test_same.py": "def check_it(): assert 0\n" + FINE,
            "two/pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-ra'\n",
            "two/tests/test_other.py": FINE,
            "plain/test_plain.py": FINE,
        }
    )

    whole = await every_bench.discover()
    nested = await every_bench.discover(path="one")

    assert {test["node_id"] for test in whole["tests"]} == {
        "one/tests/test_same.py::test_fine",
        "two/tests/test_other.py::test_fine",
        "plain/test_plain.py::test_fine",
    }
    assert [test["node_id"] for test in nested["tests"]] == [
        "one/tests/test_same.py::check_it",
        "one/tests/test_same.py::test_fine",
    ]
    assert {test["file"] for test in nested["tests"]} == {"one/tests/test_same.py"}
    answer = await every_bench.execute(path="one")
    assert answer["tests"][0]["traceback"].startswith("one/tests/test_same.py:1: in check_it\n")
    assert answer["rerun"] == {"node_ids": ["one/tests/test_same.py::check_it"]}
    # One by one, since all that a call names decides together which settings are used.
    for node_id in {test["node_id"] for test in (*whole["tests"], *nested["tests"])}:
        await assert_runs_exactly(every_bench, [node_id])


async def test_doctests(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
            "pkg/__init__.py": "",
            "pkg/sums.py": '''
            class Sum:
                """
                >>> 1 + 1
                2
                """

            def f():
                """
                >>> 2
                2
                """
            ''',
            "test_notes.txt": ">>> 2 * 2\n4\n",
        }
    )

    found = await every_bench.discover()

    assert {test["node_id"] for test in found["tests"]} == {
        "pkg/sums.py::pkg.sums.Sum",
        "pkg/sums.py::pkg.sums.f",
        "test_notes.txt::test_notes.txt",
    }
    await assert_each_id_runs_exactly_itself(every_bench, found["tests"])


async def test_a_pattern_run_hands_its_pattern_on(bench: Workbench) -> None:
    bench.write({"checks/check_bad.py": "def test_bad(): assert 0\n", "check_fine.py": FINE, "test_fine.py": FINE})

    found = await bench.discover(pattern="check_*.py", path="checks")
    answer = await bench.execute(pattern="check_*.py")

    assert [test["node_id"] for test in found["tests"]] == ["checks/check_bad.py::test_bad"]
    assert answer["rerun"] == {"node_ids": ["checks/check_bad.py::test_bad"], "pattern": "check_*.py"}
    again = await bench.execute(**answer["rerun"])
    assert [test["node_id"] for test in again["tests"]] == ["checks/check_bad.py::test_bad"]


async def test_files_of_one_name_without_packages_are_a_collection_error_that_explains_itself(
    every_bench: Workbench,
) -> None:
    every_bench.write({"a/test_same.py": FINE, "b/test_same.py": FINE})

    answer = await every_bench.discover()

    assert [test["node_id"] for test in answer["tests"]] == ["a/test_same.py::test_fine"]
    (error,) = answer["collection_errors"]
    assert (error["file"], error["error_type"]) == ("b/test_same.py", "CollectionError")
    assert error["message"].startswith("import file mismatch")


async def test_a_link_inside_the_root_keeps_its_own_name(every_bench: Workbench) -> None:
    every_bench.write({"real/test_fine.py": FINE})
    (every_bench.root / "alias").symlink_to("real", target_is_directory=True)

    answer = await every_bench.execute(path="alias")

    assert [test["node_id"] for test in answer["tests"]] == ["alias/test_fine.py::test_fine"]
    await assert_each_id_runs_exactly_itself(every_bench, answer["tests"])


async def test_a_root_whose_name_pytest_misreads_works_like_any_other(every_bench: Workbench) -> None:
    root = every_bench.root.parent / "ro[ot c::d"
    root.mkdir()
    odd = Workbench(root, every_bench.environment)
    odd.write({"conftest.py": "", "tests/test_a.py": FINE + "def test_bad(): assert 0\n"})

    whole = await odd.execute()
    again = await odd.execute(**whole["rerun"])
    found = await odd.discover(path=f"{root}/tests")
    missing = await odd.refused("execute_tests", node_ids=["tests/test_a.py::gone[1]"])

    assert (whole["verdict"], whole["summary"]["total"], whole["notices"]) == ("failed", 2, [])
    assert [test["node_id"] for test in again["tests"]] == ["tests/test_a.py::test_bad"]
    assert found["count"] == 2
    assert (missing.code, missing.data["field"]) == (-32602, "node_ids.0")


async def test_an_id_that_cannot_be_passed_back_is_said_to_be_none(bench: Workbench) -> None:
    """pytest takes no path with [ or :: in it, and no call leaves the root; both are collected all the same."""
    outside = bench.root.parent / "outside"
    outside.mkdir()
    (outside / "test_linked.py").write_text(FINE, encoding="utf-8")
    bench.write({"we[ird/test_a.py": FINE, "c::d/test_b.py": FINE, "test_[c].py": FINE, "plain/test_d.py": FINE})
    (bench.root / "linked").symlink_to(outside)

    found = await bench.discover()
    answer = await bench.execute()

    ids = [test["node_id"] for test in found["tests"]]
    odd = [node_id for node_id in ids if not node_id.startswith("plain/")]
    assert (len(ids), len(odd)) == (5, 4)
    for notices in (found["notices"], answer["notices"]):
        assert [notice[:42] for notice in notices] == ["4 test(s) cannot be run by their ids, firs"]
    refused = await bench.refused("execute_tests", node_ids=odd)
    assert {fault["field"] for fault in refused.data["validation_errors"]} == {f"node_ids.{n}" for n in range(4)}


BROKEN: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a conftest in the root, one test asked for": ({"conftest.py": "1 / 0\n"}, {"node_ids": ["tests/test_a.py"]}),
    "a conftest in a folder": ({"tests/conftest.py": "1 / 0\n"}, {}),
    "a package": ({"tests/__init__.py": "1 / 0\n"}, {}),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_the_rerun_of_a_run_with_broken_files_works_once_they_are_mended(bench: Workbench, what: str) -> None:
    files, arguments = BROKEN[what]
    bench.write({"tests/test_a.py": FINE, **files})

    broken = await bench.execute(**arguments)
    bench.write(dict.fromkeys(files, FINE))
    again = await bench.execute(**(broken["rerun"] or arguments))

    assert (broken["verdict"], again["verdict"]) == ("failed", "passed")


async def test_many_failures_are_run_again_with_few_others_and_the_same_call_is_no_rerun(
    every_bench: Workbench,
) -> None:
    source = """
        import pytest
        @pytest.mark.parametrize("kind", ["int8", "Float64", "bool"])
        @pytest.mark.parametrize("n", range(10))
        def test_{name}(n, kind): assert kind != "Float64"
    """
    every_bench.write({f"test_{file}.py": source.format(name=f"of_{file}") for file in "abc"})

    whole = await every_bench.execute()
    again = await every_bench.execute(**whole["rerun"])

    assert whole["rerun"]["keywords"] == "float64"
    assert (again["summary"]["failed"], again["summary"]["total"], again["rerun"]) == (30, 30, None)
