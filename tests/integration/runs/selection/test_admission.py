"""Files that a call names or reaches are imported only if the project's own collection would import them."""

import pytest

from tests.support.workbench import PYTESTS, Workbench, call

# Importing a module that begins like this leaves a file behind.
TRACE = "import pathlib\npathlib.Path(__file__).with_suffix('.imported').touch()\n"
DOCTEST = f'{TRACE}def double(x):\n    """\n    >>> double(1)\n    2\n    """\n    return 2 * x\n'
DOCTESTED = "[pytest]\naddopts = --doctest-modules\n"
PLUGIN = (
    f"{TRACE}import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_load_initial_conftests(): import settings\n"
)


def imported(bench: Workbench) -> list[str]:
    return sorted(path.relative_to(bench.root).as_posix() for path in bench.root.rglob("*.imported"))


async def test_a_file_that_is_no_test_is_refused_before_any_code_of_the_project_runs(every_bench: Workbench) -> None:
    """A plugin that the project's settings name is imported all the same: it may decide what a test is."""
    every_bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = -p plugin\n",
            "plugin.py": PLUGIN,
            "settings.py": TRACE,
            "conftest.py": TRACE,
            "scripts/conftest.py": TRACE,
            "scripts/deploy.py": TRACE,
        }
    )

    failure = await every_bench.refused("execute_tests", path="scripts/deploy.py")

    (fault,) = failure.data["validation_errors"]
    assert (failure.code, fault["field"], fault["type"]) == (-32602, "path", "not_a_test_file")
    assert imported(every_bench) == ["plugin.imported"]


async def test_doctest_modules_take_no_named_file_that_pytest_would_leave_out(bench: Workbench) -> None:
    bench.write(
        {
            "pytest.ini": DOCTESTED,
            "setup.py": f"{TRACE}import setuptools\n",
            "pkg/__main__.py": TRACE,
            "pkg/sums.py": DOCTEST,
            "pkg/setup.py": DOCTEST,
            "build/copy.py": DOCTEST,
        }
    )

    failure = await bench.refused("execute_tests", node_ids=["setup.py", "pkg/__main__.py", "build/copy.py"])
    answer = await bench.execute(node_ids=["pkg/setup.py", "pkg/sums.py"])

    faults = [(fault["field"], fault["type"]) for fault in failure.data["validation_errors"]]
    assert faults == [(f"node_ids.{index}", "not_a_test_file") for index in range(3)]
    assert [test["node_id"] for test in answer["tests"]] == ["pkg/setup.py::setup.double", "pkg/sums.py::sums.double"]
    assert imported(bench) == ["pkg/setup.imported", "pkg/sums.imported"]


# Files and folders that are named, and what keeps pytest without arguments from importing them.
LEFT_OUT = {
    "--ignore": ({"pytest.ini": DOCTESTED.rstrip() + " --ignore=manage.py --ignore-glob=script*\n"}, ""),
    "collect_ignore": ({"conftest.py": "collect_ignore = ['manage.py', 'scripts']\n"}, ""),
    "a conda environment": ({"env/conda-meta/history": ""}, "env/"),
}


@pytest.mark.parametrize("how", LEFT_OUT)
async def test_what_the_project_leaves_out_is_not_imported_for_its_doctests(bench: Workbench, how: str) -> None:
    files, prefix = LEFT_OUT[how]
    modules = {f"{prefix}{name}": DOCTEST for name in ("manage.py", "scripts/deploy.py")}
    bench.write({"pytest.ini": DOCTESTED, **modules, "test_a.py": TRACE, **files})
    oldest = bench.using(PYTESTS[0])

    for each, name in ((bench, "manage.py"), (bench, "scripts"), (oldest, "scripts"), (oldest, "scripts/deploy.py")):
        await call("discover_tests", {"path": prefix + name}, each.config)

    assert imported(bench) == []


BEYOND = {
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\ntestpaths = tests src*\n",
    "src/sums.py": DOCTEST,
    "tests/test_a.py": "def test_a(): pass\n",
    "scripts/deploy.py": DOCTEST,
    "scripts/test_deploy.py": "def test_deploy(): pass\n",
}


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("scripts", ["scripts/test_deploy.py::test_deploy"]),
        (".", ["scripts/test_deploy.py::test_deploy", "src/sums.py::sums.double", "tests/test_a.py::test_a"]),
    ],
)
async def test_modules_beyond_testpaths_are_not_imported_for_their_doctests(
    bench: Workbench, path: str, ids: list[str]
) -> None:
    bench.write(BEYOND)

    answer = await bench.discover(path=path)

    assert [test["node_id"] for test in answer["tests"]] == ids
    (notice,) = answer["notices"]
    assert notice.startswith("The doctests of 1 module(s) were left out and not imported, first 'scripts/")
    assert "scripts/deploy.imported" not in imported(bench)


async def test_inside_testpaths_and_without_a_path_doctests_are_collected_as_ever(bench: Workbench) -> None:
    bench.write(BEYOND)

    inside, whole = await bench.discover(path="src"), await bench.discover()

    assert (inside["count"], inside["notices"]) == (1, [])
    assert (whole["count"], whole["notices"]) == (2, [])
    assert imported(bench) == ["src/sums.imported"]


async def test_a_project_without_testpaths_has_doctests_in_every_folder(bench: Workbench) -> None:
    nested = {"build/nested/pytest.ini": DOCTESTED, "build/nested/deep/more.py": DOCTEST}
    bench.write({"pytest.ini": DOCTESTED, "one/sums.py": DOCTEST, **nested})

    counts = [(await bench.discover(path=path))["count"] for path in (".", "one", "build/nested/deep")]

    assert counts == [1, 1, 1]


async def test_the_workers_of_xdist_leave_doctests_out_too(bench: Workbench) -> None:
    ini = "[pytest]\naddopts = -n1 --doctest-modules -m 'not slow'\nmarkers = slow\ntestpaths = tests other\n"
    ignored = {"conftest.py": "collect_ignore = ['other']\n", "other/deploy.py": DOCTEST}
    bench.write({**BEYOND, "pytest.ini": ini, **ignored})

    beyond, found = await bench.execute(path="scripts"), await bench.discover(path="scripts")
    failure = await bench.refused("execute_tests", path="other/deploy.py")
    nothing = await bench.execute(path="other")

    for answer in (beyond, found):
        assert [test["node_id"] for test in answer["tests"]] == ["scripts/test_deploy.py::test_deploy"]
    for answer in (beyond, found, nothing):
        assert any("The doctests of" in notice for notice in answer["notices"])
    (fault,) = failure.data["validation_errors"]
    assert (fault["field"], fault["type"]) == ("path", "not_found")
    assert nothing["verdict"] == "no_tests"
    assert imported(bench) == []
