"""`coverage`: real runs with the real coverage.py and pytest-cov. `coverage json` of the same tests is the oracle."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.git import commit_all
from tests.support.waiting import limits_until
from tests.support.workbench import Failure, Workbench, call, succeeded

MODULE = """\
import os


def total(items, discount=0):
    result = sum(items)
    if discount:
        result -= (
            discount
        )
    while items:
        items = items[1:]
    return result


def never(values):
    \"\"\"Its documentation
    is no statement.\"\"\"
    for value in values:
        try:
            yield value
        finally:
            print(value)


def debug():
    return 1  # NOT MEASURED


if os.environ.get("NOBODY"):
    TABLE = {
        "a": 1,
    }
match = [number for number in range(3) if number > 5]
"""
IN_PROCESS = """\
def work(x):
    if x > 1:
        return 1
    return 2
"""
TESTS = """\
import multiprocessing, os, subprocess, sys
import pytest
import shop.cart
from shop.parts import processes

def test_total(): assert shop.cart.total([1, 2]) == 3

def test_in_another_process():
    process = multiprocessing.get_context("fork").Process(target=processes.work, args=(5,))
    process.start()
    process.join()
    assert process.exitcode == 0

def test_that_removes_its_folder(tmp_path):
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
"""
# Everything that moves the data, names files or adds to them.
SETTINGS = """\
[run]
branch = True
source =
    src
omit = src/shop/omitted.py
data_file = build/.coverage
parallel = True
relative_files = True
concurrency = multiprocessing,thread
[report]
exclude_lines = NOT MEASURED
[html]
directory = build/html
"""
CORPUS = {
    "pytest.ini": "[pytest]\npythonpath = src\naddopts = -p no:randomly\n",
    ".coveragerc": SETTINGS,
    "src/shop/__init__.py": "",
    "src/shop/cart.py": MODULE,
    "src/shop/unimported.py": "x = 1\n\ndef y():\n    return 2\n",
    "src/shop/omitted.py": "x = 1\n",
    "src/shop/parts/__init__.py": "'A package.'\n",
    "src/shop/parts/processes.py": IN_PROCESS,
    "tests/conftest.py": "import shop.parts.processes\n",
    "tests/test_cart.py": TESTS,
}
BY_PYTEST_COV = "--cov --cov-report=html --cov-report=xml:build/cov.xml --cov-report=term --cov-context=test"


def state(root: Path) -> set[str]:
    """Without the caches that every run writes."""
    files = {str(path.relative_to(root)) for path in root.rglob("*")}
    return {file for file in files if "__pycache__" not in file and ".pytest_cache" not in file}


def numbers(ranges: Iterable[str]) -> list[int]:
    pairs = [(part + "-" + part).split("-")[:2] if "-" not in part else part.split("-") for part in ranges]
    return [number for first, last in pairs for number in range(int(first), int(last) + 1)]


def shown(coverage: dict[str, Any]) -> dict[str, tuple[list[int], list[str]]]:
    return {file["file"]: (numbers(file["missed"]), sorted(file["branches"])) for file in coverage["files"]}


def of_coverage_json(bench: Workbench, folder: Path, *options: str) -> dict[str, Any]:
    """What a person gets who types the commands of coverage.py's documentation, in a copy."""
    shutil.copytree(bench.root, folder)
    python, kept = str(bench.python), {**bench.config.environment, "COVERAGE_FILE": str(folder / "kept")}
    for command in (["run", "-m", "pytest", "-q", *options], ["combine"], ["json", "-o", "told.json"]):
        subprocess.run([python, "-m", "coverage", *command], cwd=folder, env=kept, check=True, capture_output=True)
    told: dict[str, Any] = json.loads((folder / "told.json").read_text("utf-8"))
    return told


def in_words(branches: Iterable[list[int]]) -> list[str]:
    return sorted(f"{line}->{target if target > 0 else 'exit'}" for line, target in branches)


def assert_equal(answer: dict[str, Any], told: dict[str, Any]) -> None:
    coverage, totals = answer["coverage"], told["totals"]
    assert {file: lines for file, (lines, _) in shown(coverage).items()} == {
        file: entry["missing_lines"]
        for file, entry in told["files"].items()
        if entry["missing_lines"] or entry["summary"]["missing_branches"]
    }
    for file, (_, branches) in shown(coverage).items():
        entry = told["files"][file]
        # Before coverage.py 6.5 they are only counted.
        assert branches == in_words(entry.get("missing_branches", ()))
    assert coverage["percent"] == round(totals["percent_covered"], 2)
    assert coverage["summary"] == (
        f"{totals['num_statements']} lines, {totals['covered_lines']} ran;"
        f" {totals['num_branches']} branches, {totals['covered_branches']} taken"
    )
    assert coverage["partial"] is None


@pytest.mark.parametrize(("environment", "workers", "of_plugin"), [("coverage-5", None, 2), ("coverage-7", 2, None)])
async def test_every_line_and_branch_is_as_coverage_json_says_and_nothing_is_written(
    bench: Workbench, environment: str, workers: int | None, of_plugin: int | None, tmp_path: Path
) -> None:
    bench = bench.using(environment)
    bench.write(CORPUS)
    told = of_coverage_json(bench, tmp_path / "copy")
    before = state(bench.root)

    plain = await bench.execute(coverage="all", workers=workers)
    bench.write({"pytest.ini": CORPUS["pytest.ini"].rstrip() + f" {BY_PYTEST_COV}\n"})
    by_plugin = await bench.execute(coverage="all", workers=of_plugin)

    assert set(told["files"]) >= {"src/shop/cart.py", "src/shop/unimported.py", "src/shop/parts/processes.py"}
    branches = ["2->4"] if environment == "coverage-7" else []
    assert shown(plain["coverage"])["src/shop/parts/processes.py"][1] == branches
    for answer in (plain, by_plugin):
        assert (answer["verdict"], answer["text_output"]) == ("passed", "")
        assert_equal(answer, told)
    assert state(bench.root) == before


async def test_of_changed_lines_those_that_ran_and_statements_count_as_a_whole(bench: Workbench) -> None:
    bench = bench.using("coverage-7")
    bench.write({"mod.py": MODULE, "test_mod.py": "import mod\ndef test_a(): assert mod.total([2]) == 2\n"})
    commit_all(bench.root)
    changed = MODULE.replace("            discount\n", "            2 * discount\n").replace(
        "sum(items)", "sum(items) + 0"
    )
    bench.write({"mod.py": changed + "# a comment\nlate = 1\n", "new.py": "x = 1\n", "notes.txt": "x\n"})

    answer = await bench.execute(coverage="changed")
    reached = await bench.execute(coverage="changed", changed=True)
    other = await bench.refused("execute_tests", coverage="changed", changed="nowhere")

    assert answer["coverage"] == {
        "summary": "3 changed lines, 2 ran (since HEAD)",
        "percent": 66.67,
        "partial": None,
        "files": [{"file": "mod.py", "count": 1, "missed": ["7"], "branches": None}],
        "not_measured": ["new.py"],
        "omitted": None,
    }
    assert reached["coverage"]["files"] == answer["coverage"]["files"]
    assert (other.code, other.data["field"]) == (-32602, "changed")


async def test_without_coverage_py_it_is_an_error_with_the_line_that_installs_it(bench: Workbench) -> None:
    lacking = bench.using("demo")
    lacking.write({"test_a.py": "raise SystemExit('must not be imported')\n"})

    failure = await lacking.refused("execute_tests", coverage="all")

    assert failure.data["error_type"] == "environment"
    assert failure.message.splitlines()[1] == f"fix: {lacking.python} -m pip install coverage"


async def test_settings_that_coverage_py_cannot_read_are_a_usage_error_that_quotes_it(bench: Workbench) -> None:
    bench = bench.using("coverage-7")
    bench.write({"test_a.py": "def test_a(): pass\n", ".coveragerc": "[run]\nbranch = perhaps\n"})

    failure = await bench.refused("execute_tests", coverage="all")

    assert failure.data["error_type"] == "usage_error"
    assert "coverage.py cannot be started: " in failure.message
    assert "perhaps" in failure.message


async def test_after_a_timeout_what_was_measured_until_then_is_partial(bench: Workbench) -> None:
    bench = bench.using("coverage-7")
    stuck = """
        import pathlib, time
        def test_a(): pass
        def test_stuck():
            pathlib.Path("x").touch()
            time.sleep(600)
    """
    bench.write({"test_a.py": stuck, "mod.py": "x = 1\n", ".coveragerc": "[run]\nsource = .\n"})

    for limit in limits_until(bench.root / "x"):
        failure = await bench.refused("execute_tests", coverage="all", timeout=limit)

    found = failure.data["partial"]["coverage"]
    assert (found["summary"], found["partial"]) == (
        "6 lines, 5 ran",
        "the run did not come to its end; 1 test(s) did not finish",
    )


BROKEN = """
import pathlib, time, coverage

def report(self, **_):
    pathlib.Path("reached").touch()
    {does}

def coverage_init(reg, options):
    coverage.Coverage.json_report = report
"""


@pytest.mark.parametrize("does", ["raise ValueError(1)", "time.sleep(600)"])
async def test_coverage_that_cannot_be_told_does_not_cost_the_results(bench: Workbench, does: str) -> None:
    bench = bench.using("coverage-7")
    bench.write({"broken.py": BROKEN.format(does=does), ".coveragerc": "[run]\nplugins = broken\n"})
    bench.write({"test_a.py": "def test_good(): pass\ndef test_bad(): assert 0\n"})

    in_time = bench.root.parent / "in_time"
    for limit in limits_until(in_time):
        answer = await call("execute_tests", {"coverage": "all", "timeout": limit}, bench.config)
        # A limit that strikes before the report has begun is a timeout of the tests.
        if not isinstance(answer, Failure):
            in_time.touch()

    result = succeeded(answer)
    assert (bench.root / "reached").exists()
    assert (result["verdict"], result["exit_code"], result["summary"]["failed"]) == ("failed", 1, 1)
    why = "ValueError: 1" if "raise" in does else "it was not put together within the time limit"
    assert result["coverage"]["summary"] == f"coverage is not known: {why}"


async def test_tests_may_use_coverage_py_themselves_and_a_stopped_run_says_that_it_is_partial(bench: Workbench) -> None:
    bench = bench.using("coverage-7")
    uses = """
        import coverage, os, subprocess, sys
        import mod

        def test_in_this_process():
            assert "COVERAGE_FILE" not in os.environ
            inner = coverage.Coverage(data_file=None)
            inner.start()
            mod.one(0)
            inner.stop()
            assert any(name.endswith("mod.py") for name in inner.get_data().measured_files())

        def test_in_another(tmp_path):
            (tmp_path / "x.py").write_text("x = 1")
            subprocess.run([sys.executable, "-m", "coverage", "run", "x.py"], cwd=tmp_path, check=True)
            assert (tmp_path / ".coverage").exists()
            mod.one(1)

        def test_fails(): assert 0
        def test_late(): mod.two()
    """
    module = "def one(x):\n    if x:\n        return 1\n    return 2\n\ndef two():\n    return 2\n"
    addopts = "[pytest]\naddopts = --cov=mod --cov-report=html --cov-fail-under=100\n"
    bench.write({"mod.py": module, "test_a.py": uses, "coverage.py": "raise ImportError\n"})

    plain = await bench.execute(coverage="all", failfast=True)
    bench.write({"pytest.ini": addopts})
    by_plugin = await bench.execute(coverage="all", failfast=True)

    assert [plain["summary"][name] for name in ("passed", "failed")] == [2, 1]
    assert plain["coverage"]["partial"] == "1 of 4 selected tests did not run"
    assert by_plugin["coverage"]["partial"] == "1 of 4 selected tests did not run"
    missed = {file["file"]: file["missed"] for file in plain["coverage"]["files"]}
    assert missed["mod.py"][-1] == "7"
    assert {file["file"]: file["missed"][-1] for file in by_plugin["coverage"]["files"]} == {"mod.py": "7"}
    assert not (bench.root / "htmlcov").exists()
