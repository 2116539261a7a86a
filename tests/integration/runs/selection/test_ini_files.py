"""`child/ini_files.py`: the settings are those of `python -m pytest` there, less what lies above the root."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.workbench import Workbench

ORACLE = ROOT / "tests" / "support" / "runs" / "settings_oracle.py"
FAILING = "def test_fails(): assert False\n"
FINE = "def test_fine(): pass\n"
# Settings that decide between the outcomes: with the ones above the root nothing is collected.
ABOVE = "[pytest]\npython_files = nothing_*.py\n"
OWN = "python_files = ['check_*.py']"


def test_the_search_ends_at_the_root_and_else_finds_what_pytest_finds(every_bench: Workbench, tmp_path: Path) -> None:
    """Every form of settings, alone and below others, with pytest's own search as the oracle."""
    base = tmp_path / "oracle"
    base.mkdir()
    ran = subprocess.run(
        [every_bench.python, "-B", ORACLE, base], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == []


async def test_the_roots_own_settings_are_used_and_those_above_are_not_spoken_of(bench: Workbench) -> None:
    bench.write({"pyproject.toml": f"[ tool.pytest.ini_options ]\n{OWN}\n", "check_it.py": FAILING})
    (bench.root.parent / "pytest.ini").write_text(ABOVE, encoding="utf-8")

    answer = await bench.execute()

    assert answer["summary"]["failed"] == 1
    assert not any("above the root" in notice for notice in answer["notices"])


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[tool.pytest]\n"},
        {"tox.ini": "[tox]\nenvlist =\n  py\n  [pytest]\n"},
    ],
    ids=["none", "empty table", "indented section"],
)
async def test_settings_and_conftests_above_the_root_are_left_out_and_named(
    bench: Workbench, files: dict[str, str]
) -> None:
    bench.write({"test_fine.py": FINE, **files})
    (bench.root.parent / "pytest.ini").write_text(ABOVE + "addopts = -p canary\n", encoding="utf-8")
    (bench.root.parent / "conftest.py").write_text("raise SystemExit('above')\n", encoding="utf-8")

    answer = await bench.discover()

    sentence = "Settings and conftests above the root are not used: ../pytest.ini, ../conftest.py."
    assert (answer["count"], answer["notices"]) == (1, [sentence])


async def test_a_file_that_only_newer_pytests_read_hides_nothing_from_older_ones(bench: Workbench) -> None:
    old = bench.using("pytest-8.4")
    old.write({"test_fine.py": FINE, "pytest.toml": "[tool.pytest.ini_options]\npython_files = 'nothing_*.py'\n"})
    (old.root.parent / "tox.ini").write_text(ABOVE, encoding="utf-8")

    answer = await old.execute()

    assert answer["verdict"] == "passed"
    assert answer["notices"] == ["Settings above the root are not used: ../tox.ini."]


async def test_tests_and_plugins_see_no_settings_file_where_the_root_has_none(every_bench: Workbench) -> None:
    source = """
        def test_it(pytestconfig):
            assert (pytestconfig.inipath, pytestconfig.rootpath) == (None, pytestconfig.invocation_params.dir)
    """
    every_bench.write({"test_it.py": source})
    (every_bench.root.parent / "pytest.ini").write_text(ABOVE, encoding="utf-8")

    answer = await every_bench.execute()

    assert answer["verdict"] == "passed"


async def test_a_conftest_above_the_root_is_spoken_of_only_if_pytest_would_load_it(every_bench: Workbench) -> None:
    every_bench.write({"test_fine.py": FINE, "pyproject.toml": "[project]\nname = 'x'\n"})
    (every_bench.root.parent / "conftest.py").write_text("raise SystemExit('above')\n", encoding="utf-8")

    answer = await every_bench.execute()

    loaded = every_bench.shell().returncode != 0
    notices = ["Conftests above the root are not used: ../conftest.py."] if loaded else []
    assert (answer["verdict"], answer["notices"]) == ("passed", notices)


async def test_pipes_in_the_place_of_settings_are_not_opened(every_bench: Workbench) -> None:
    every_bench.write({"test_fine.py": FINE})
    names = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py")
    for folder in (every_bench.root, every_bench.root.parent):
        for name in (*names, "conftest.py"):
            os.mkfifo(folder / name)

    answer = await every_bench.execute()

    assert (answer["verdict"], answer["notices"]) == ("passed", [])


async def test_the_projects_own_options_bring_in_no_conftest_from_above_the_root(every_bench: Workbench) -> None:
    """With xdist, so that neither the controller nor a worker loads it."""
    addopts = "-n1 --confcutdir=.. --rootdir=.. -c ../other.ini"
    every_bench.write({"pytest.ini": f"[pytest]\naddopts = {addopts}\n", "conftest.py": "", "test_fine.py": FINE})
    (every_bench.root.parent / "other.ini").write_text(ABOVE, encoding="utf-8")
    (every_bench.root.parent / "conftest.py").write_text("raise SystemExit('above')\n", encoding="utf-8")

    answer = await every_bench.execute()

    assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 1)
