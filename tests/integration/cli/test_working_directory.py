"""Commands that are typed somewhere inside a project: which root they take, and what their paths count from."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.commands.desk import Desk
from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of
from tests.support.projects.project_files import write_files
from tests.support.workbench import Workbench

PASSES = "def test_fine(): pass\n"
FAILS = "def test_bad(): assert 0\n"
FILES = {
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "tests/unit/test_a.py": PASSES,
    "tests/unit/test_bad.py": FAILS,
    "tests/slow/test_b.py": PASSES,
    "docs/test_c.py": PASSES,
    # The same name once more, counted from tests.
    "tests/tests/unit/test_bad.py": PASSES,
    "tests/__init__.py": "",
    "tests/unit/__init__.py": "",
    "tests/tests/__init__.py": "",
    "tests/tests/unit/__init__.py": "",
}


@pytest.fixture
def shop(bench: Workbench) -> Workbench:
    bench.write(FILES)
    return bench


def typed_in(bench: Workbench, folder: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return typed(*words, f"--python={bench.python}", cwd=bench.root / folder, env=environment_of(bench))


def test_discover_walks_up_to_the_project_and_takes_several_paths_from_the_working_directory(shop: Workbench) -> None:
    done = typed_in(shop, "tests/unit", "discover", "../slow", "test_a.py", "../../docs")

    assert sorted(done.stdout.split()) == [
        "docs/test_c.py::test_fine",
        "tests/slow/test_b.py::test_fine",
        "tests/unit/test_a.py::test_fine",
    ]
    assert done.stderr == f"pytest-mcp: the project is {shop.root}\n"
    assert done.returncode == 0


def test_the_command_that_runs_failures_again_works_where_it_is_printed(shop: Workbench) -> None:
    first = typed_in(shop, "tests", "run", "unit")
    again = next(line for line in first.stdout.splitlines() if line.startswith("To run the failures again: "))
    words = shlex.split(again.partition(": ")[2])

    second = typed(*words[1:], cwd=shop.root / "tests", env=environment_of(shop))

    assert words[-1] == "unit/test_bad.py::test_bad"
    assert [done.stdout.splitlines()[-1].partition(" in ")[0] for done in (first, second)] == [
        "failed: 1 failed, 1 passed",
        "failed: 1 failed",
    ]


def test_ids_of_a_report_are_accepted_anywhere_in_the_project(shop: Workbench) -> None:
    done = typed_in(shop, "tests/slow", "run", "docs/test_c.py::test_fine", "--json")

    assert json.loads(done.stdout)["tests"][0]["node_id"] == "docs/test_c.py::test_fine"


def test_root_overrides_the_search(shop: Workbench) -> None:
    done = typed_in(shop, "tests/unit", "discover", "--root=..", "--path=../slow")

    assert (done.stdout, done.stderr) == ("slow/test_b.py::test_fine\n", "")


def test_setup_writes_the_settings_of_the_project_that_it_is_typed_in(desk: Desk) -> None:
    write_files(desk.project, {"pyproject.toml": "[project]\n", "setup.py": "", "tests/test_a.py": PASSES})

    done = desk.typed("claude-code", "--yes", cwd=desk.project / "tests")

    assert done.stderr == f"pytest-mcp: the project is {desk.project}\n"
    assert [path.relative_to(desk.project) for path in desk.project.rglob(".mcp.json")] == [Path(".mcp.json")]
