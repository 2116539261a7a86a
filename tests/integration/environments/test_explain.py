"""explain_environment through the real server: what it tells is what pytest itself tells, the oldest and the newest."""

import json
import re
import subprocess
import tempfile
from typing import Any

import pytest

from pytest_mcp.config.model import Config
from pytest_mcp.report.tokens import estimate
from scripts.environments import ENVIRONMENTS
from tests.support.runs.shared_runs import Answers, on_each
from tests.support.waiting import limits_until
from tests.support.workbench import Workbench, call, succeeded

FINE = "def test_fine(): pass\n"
ORDINARY = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        testpaths = ["tests"]
        addopts = "-ra --strict-markers"
        markers = ["slow: takes long", "net(host): needs the network"]
    """,
    "conftest.py": "def pytest_configure(config): config.addinivalue_line('markers', 'late: by a conftest')\n",
    "tests/test_a.py": FINE + "class TestIt:\n    def test_one(self): pass\n",
    "elsewhere/test_unseen.py": FINE,
}


async def explained(config: Config) -> dict[str, Any]:
    return succeeded(await call("explain_environment", {}, config))


def registered_marks(bench: Workbench) -> set[str]:
    return set(re.findall(r"(?m)^@pytest\.mark\.(\w+)", bench.shell("--markers").stdout))


async def _ordinary(bench: Workbench) -> Answers:
    of_pytest = registered_marks(bench)
    bench.write(ORDINARY)
    answer = await bench.explain()
    files = [path.relative_to(bench.root).as_posix() for path in bench.root.rglob("*") if path.is_file()]
    version = bench.shell("--version")
    return {
        "answer": answer,
        "files": files,
        "marks": registered_marks(bench) - of_pytest,
        "version": (version.stdout + version.stderr).split(),
        "printed": bench.shell("--collect-only").stdout,
        "python": bench.python,
    }


ordinary = on_each(_ordinary)


def test_what_is_told_of_pytest_is_what_its_own_header_shows(ordinary: Answers) -> None:
    answer = ordinary["answer"]

    def printed(pattern: str) -> list[str]:
        return re.findall(pattern, ordinary["printed"])

    assert printed(r"plugins: (.+)") == [", ".join(answer["pytest"]["plugins"])]
    assert ordinary["version"] == ["pytest", answer["pytest"]["version"]]
    assert printed(r"configfile: ([\w.]+)") == [answer["config"]["file"]]
    assert printed(r"testpaths: ([\w.]+)") == answer["config"]["testpaths"]
    assert printed(r"(\d+) tests collected") == [str(answer["tests"]["count"])]
    assert answer["ready"]


def test_the_marks_are_those_that_the_project_adds_to_pytests_own(ordinary: Answers) -> None:
    marks = ordinary["answer"]["config"]["markers"]

    assert set(marks) == ordinary["marks"]
    assert marks == ["slow", "net", "late"]


@pytest.mark.parametrize("addopts", ["", "-n 2"])
async def test_marks_that_conftests_below_the_root_register_are_told_even_if_a_file_is_broken(
    every_bench: Workbench, addopts: str
) -> None:
    """pytest loads such a conftest only when it collects the folder."""
    registers = "def pytest_configure(config): config.addinivalue_line('markers', '{}: x')\n"
    every_bench.write({"pytest.ini": f"[pytest]\naddopts = {addopts}\nmarkers = slow\n"})
    every_bench.write({"shop/conftest.py": registers.format("net"), "shop/a/conftest.py": registers.format("deep")})
    every_bench.write({"shop/test_a.py": FINE, "shop/a/test_b.py": FINE})

    whole = await every_bench.explain()
    every_bench.write({"shop/a/test_b.py": "raise ValueError\n"})
    broken = await every_bench.explain()

    assert [answer["config"]["markers"] for answer in (whole, broken)] == [["slow", "net", "deep"]] * 2
    assert [answer["tests"]["count"] for answer in (whole, broken)] == [2, 1]
    assert whole["config"]["addopts"] == addopts


def test_the_interpreter_is_named_with_where_it_was_found(ordinary: Answers) -> None:
    program = "import sys; print(sys.executable, sys.prefix, '%d.%d.%d' % sys.version_info[:3], sep='\\n')"
    said = subprocess.run([ordinary["python"], "-c", program], capture_output=True, text=True, check=True).stdout
    executable, prefix, version = said.splitlines()

    expected = {"executable": executable, "source": "--python", "version": version, "prefix": prefix}
    assert ordinary["answer"]["interpreter"] == expected


def test_an_ordinary_project_costs_few_tokens_and_gets_nothing_but_bytecode(ordinary: Answers) -> None:
    assert estimate(json.dumps(ordinary["answer"], ensure_ascii=False, separators=(",", ":"))) <= 500
    assert sorted(file for file in ordinary["files"] if not file.endswith(".pyc")) == sorted(ORDINARY)


async def test_settings_above_the_root_are_not_told_as_its_own_but_named(bench: Workbench) -> None:
    (bench.root.parent / "pytest.ini").write_text("[pytest]\naddopts = -x\n", encoding="utf-8")
    bench.write({"test_a.py": FINE})

    answer = await bench.explain()

    assert (answer["config"]["file"], answer["config"]["addopts"]) == (None, "")
    (notice,) = answer["notices"]
    assert "../pytest.ini" in notice


async def test_files_that_cannot_be_collected_are_told_in_one_line_each(every_bench: Workbench) -> None:
    every_bench.write({"test_a.py": FINE, "test_b.py": "import os\nimport nowhere_to_be_found\n"})

    answer = await every_bench.explain()

    assert not answer["ready"]
    assert answer["problem"] is None
    assert answer["tests"]["uncollected"] == ["test_b.py:2: ModuleNotFoundError: No module named 'nowhere_to_be_found'"]


BROKEN = {
    "a bad ini": ({"pytest.ini": "[pytest\n"}, "pytest.ini"),
    "an unknown option": ({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, "--no-such-option"),
    "a dying test module": ({"test_a.py": "import os; os._exit(9)\n"}, "exited with code 9"),
    "a hook that gives up": (
        {"conftest.py": "import pytest\ndef pytest_collection(): pytest.exit('not today')\n", "test_a.py": FINE},
        "not today",
    ),
    "a question instead of tests": ({"pytest.ini": "[pytest]\naddopts = --help\n"}, "addopts"),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_what_keeps_pytest_from_collecting_is_data(bench: Workbench, what: str) -> None:
    files, words = BROKEN[what]
    bench.write(files)

    answer = await bench.explain()

    assert (answer["ready"], answer["tests"]) == (False, None)
    assert words in answer["problem"]
    assert answer["next_step"]
    assert answer["interpreter"]["executable"] == str(bench.python)


async def test_a_conftest_that_hangs_is_data_when_the_time_is_over_with_all_that_was_known(
    bench: Workbench,
) -> None:
    hanging = "import pathlib, time\npathlib.Path('reached').touch()\ntime.sleep(1000)\n"
    bench.write({**ORDINARY, "conftest.py": hanging})

    for limit in limits_until(bench.root / "reached"):
        answer = await explained(bench.config._replace(default_timeout=limit))

    assert not answer["ready"]
    assert f"{limit} seconds" in answer["problem"]
    assert "conftest.py" in answer["problem"]
    assert answer["config"]["addopts"] == "-ra --strict-markers"


async def test_a_project_without_a_usable_python_is_data_with_the_line_that_helps(bench: Workbench) -> None:
    bench.write(ORDINARY)
    (bench.root / ".venv" / "bin").mkdir(parents=True)
    (bench.root / ".venv" / "bin" / "python").symlink_to("/nowhere/python")

    answer = await explained(bench.config._replace(python=None))
    lacking = await explained(bench.config._replace(python=ENVIRONMENTS["no-pytest"].python))

    assert (answer["ready"], answer["interpreter"], answer["pytest"], answer["config"]) == (False, None, None, None)
    assert [candidate["source"] for candidate in answer["candidates"]] == [".venv in the project root"]
    assert answer["next_step"].startswith("mv .venv .venv-broken && python3 -m venv .venv")
    assert lacking["next_step"] == f"{ENVIRONMENTS['no-pytest'].python} -m pip install pytest"


async def test_a_machine_without_a_temporary_folder_is_data(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write(ORDINARY)
    monkeypatch.setattr(tempfile, "tempdir", str(bench.root.parent / "gone"))

    answer = await bench.explain()

    assert (answer["ready"], answer["temporary_folder"]["writable"]) == (False, False)
    assert answer["interpreter"]["executable"] == str(bench.python)
    assert "TMPDIR" in answer["next_step"]


async def test_no_variable_of_the_servers_is_told(bench: Workbench) -> None:
    bench.write(ORDINARY)
    secret = {"TOKEN": "canary-51c", "TMPDIR": "/canary-52c", "PYTEST_ADDOPTS": "-k canary-53c"}

    answer = await explained(bench.config._replace(environment={**bench.config.environment, **secret}))

    assert "canary" not in json.dumps(answer)


SRC = {"src/till/__init__.py": "", "setup.py": ""}
# What keeps tests from being collected → the end of the next step.
UNRUNNABLE: dict[str, tuple[dict[str, str], str]] = {
    "two files of one name": (
        {"a/test_x.py": FINE, "b/test_x.py": FINE},
        r"printf '[pytest]\naddopts = --import-mode=importlib\n' > pytest.ini",
    ),
    "two files of one name and settings": (
        {"a/test_x.py": FINE, "b/test_x.py": FINE, "tox.ini": "[pytest]\n"},
        "Add --import-mode=importlib to addopts in tox.ini.",
    ),
    "a src layout that is not installed": (
        {**SRC, "tests/test_a.py": "import till\n" + FINE},
        "/python -m pip install -e .",
    ),
    "a conftest that imports the package": ({**SRC, "conftest.py": "import till\n"}, "/python -m pip install -e ."),
    "a package that nothing has": ({"setup.py": "", "test_a.py": "import not_there\n" + FINE}, "-m pip install -e ."),
}


@pytest.mark.parametrize("case", UNRUNNABLE)
async def test_the_next_step_is_a_command_that_helps_and_a_notice_of_runs_and_discoveries(
    every_bench: Workbench, case: str
) -> None:
    files, ending = UNRUNNABLE[case]
    every_bench.write(files)

    explanation = await every_bench.explain()
    answers = [await every_bench.execute(), await every_bench.discover(), await every_bench.execute(workers=1)]

    step = explanation["next_step"]
    assert (explanation["ready"], step.endswith(ending)) == (False, True)
    assert [f"fix: {step}" in answer["notices"] for answer in answers] == [True, True, True]


@pytest.mark.parametrize("source", ["import not_there\n", "raise ValueError\n", "def test_a(): assert 0\n", ""])
async def test_where_no_step_is_certain_a_run_has_none(bench: Workbench, source: str) -> None:
    bench.write({"test_a.py": source})

    answer = await bench.execute()

    assert not [notice for notice in answer["notices"] if notice.startswith("fix: ")]
