"""`pytest-mcp run` with folders that have environments of their own: each runs in its own, and there is one answer."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from scripts.environments import ENVIRONMENTS
from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of, remains
from tests.support.projects.disk import lay
from tests.support.waiting import PATIENCE, until
from tests.support.workbench import Failure, Workbench, call, succeeded

PROJECT = "[project]\nname = 'member'\nversion = '1'\n[tool.pytest.ini_options]\naddopts = '-p no:cacheprovider'\n"
# Passes only in the environment that it is meant for.
MEANT = "import pytest\ndef test_meant(): assert pytest.__version__.startswith('{}')\n"
BAD = "def test_bad(): assert 1 == 2\n"
ENDLESS = "import time\ndef test_endless():\n    open('ready', 'w').close()\n    time.sleep(600)\n"


def member(bench: Workbench, name: str, environment: str | None, source: str) -> None:
    bench.write({f"packages/{name}/pyproject.toml": PROJECT, f"packages/{name}/tests/test_x.py": source})
    if environment is not None:
        prefix = ENVIRONMENTS[environment].python.parents[1]
        (bench.root / "packages" / name / ".venv").symlink_to(prefix)


@pytest.fixture
def monorepo(bench: Workbench) -> Workbench:
    (bench.root / ".git").mkdir()
    member(bench, "a", "pytest-9", MEANT.format("9") + BAD)
    member(bench, "b", "pytest-7.0", MEANT.format("7") + BAD)
    return bench


def run(bench: Workbench, *words: str, folder: str = ".") -> "subprocess.CompletedProcess[str]":
    return typed("run", *words, cwd=bench.root / folder, env=environment_of(bench))


def test_each_runs_in_its_own_environment_and_the_printed_command_runs_the_failures_again(monorepo: Workbench) -> None:
    done = run(monorepo, "a", "b", folder="packages")

    again = next(line for line in done.stdout.splitlines() if line.startswith("To run the failures again: "))
    words = shlex.split(again.partition(": ")[2])
    second = typed(*words[1:], cwd=monorepo.root / "packages", env=environment_of(monorepo))

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("failed: 2 failed, 2 passed in ")
    assert "FAILED packages/b/tests/test_x.py::test_bad - " in done.stderr
    assert second.stdout.splitlines()[-1].startswith("failed: 2 failed in ")


def test_a_member_may_be_without_tests_by_a_filter_and_not_by_having_none(bench: Workbench) -> None:
    (bench.root / ".git").mkdir()
    member(bench, "a", "pytest-9", MEANT.format("9"))
    member(bench, "b", "pytest-9", "def test_other(): pass\n")
    member(bench, "c", "pytest-9", "")

    filtered = run(bench, "packages/a", "packages/b", "-k", "meant")
    lacking = run(bench, "packages/a", "packages/c", "-k", "meant")

    assert (filtered.returncode, filtered.stdout.splitlines()[-1].partition(":")[0]) == (0, "passed")
    assert (lacking.returncode, lacking.stdout.splitlines()[-1].partition(":")[0]) == (1, "incomplete")
    assert "note: packages/c has no tests." in lacking.stdout.splitlines()


def test_a_member_that_cannot_run_makes_an_error_of_the_exit_code_and_every_format_has_the_others(
    monorepo: Workbench,
) -> None:
    member(monorepo, "c", None, BAD)
    files = ["--junitxml=out.xml", "--html=page.html"]

    done = run(monorepo, "packages/a", "packages/b", "packages/c", "--json", *files)

    answer = json.loads(done.stdout)
    suites = [(suite.get("name"), suite.get("tests")) for suite in ET.parse(monorepo.root / "out.xml").getroot()]
    page = (monorepo.root / "page.html").read_text("utf-8")
    assert (done.returncode, answer["verdict"], answer["exit_code"]) == (4, "failed", 4)
    assert answer["notices"][0].startswith("packages/c did not finish: pytest execution failed: no usable Python ")
    assert answer["summary"]["passed"] == answer["summary"]["failed"] == 2
    assert answer["text_output"].startswith("packages/c:\n")
    assert "out.xml" not in answer["text_output"]
    assert suites == [("pytest packages/a", "2"), ("pytest packages/b", "2"), ("pytest packages/c", "1")]
    assert all(f"packages/{name}/tests/test_x.py::test_bad" in page for name in "ab")
    assert remains(monorepo) == []


def test_a_misspelt_test_is_told_once_with_the_name_of_its_member_and_the_others_run(monorepo: Workbench) -> None:
    done = run(monorepo, "packages/a/tests/test_x.py::test_bat", "packages/b")

    meant = "packages/a/tests/test_x.py::test_bat: was not found; did you mean test_bad?"
    assert done.returncode == 4
    assert f"note: packages/a was not run: {meant}\n" in done.stdout
    assert done.stdout.count("was not found") == 1
    assert "failed: 1 failed, 1 passed in " in done.stdout


def test_after_a_failure_with_failfast_the_next_member_is_not_run(monorepo: Workbench) -> None:
    answer = run(monorepo, "packages/a", "packages/b", "-x", "--json")

    assert answer.returncode == 1
    assert json.loads(answer.stdout)["notices"][0] == "packages/b was not run: 1 failed before."


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interruption_keeps_what_ran_before_and_starts_nothing_more(
    monorepo: Workbench, number: signal.Signals
) -> None:
    member(monorepo, "endless", "pytest-9", ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_mcp", "run", *(f"packages/{name}" for name in ("a", "endless", "b")), "--json"],
        cwd=monorepo.root,
        env=environment_of(monorepo),
        stdout=subprocess.PIPE,
        text=True,
    )
    await until((monorepo.root / "ready").exists)

    os.kill(process.pid, number)
    answer = json.loads(process.communicate(timeout=PATIENCE)[0])

    assert process.returncode == 2
    assert (answer["summary"]["passed"], answer["summary"]["failed"]) == (1, 1)
    assert [notice.partition(":")[0] for notice in answer["notices"][:2]] == [
        "packages/endless did not finish",
        "packages/b was not run",
    ]
    assert remains(monorepo) == []


def test_coverage_of_members_is_put_together(bench: Workbench) -> None:
    """Each runs one half of a file that both import."""
    source = "def one():\n    return 1\n\ndef two():\n    return 2\n\ndef three():\n    return 3\n"
    bench.write({".git/HEAD": "", "shared/shop.py": source})
    for name, called in (("a", "one"), ("b", "two")):
        path = "import sys\nsys.path.insert(0, 'shared')\nimport shop\n"
        member(bench, name, "coverage-7", f"{path}def test_it(): shop.{called}()\n")

    done = run(bench, "packages/a", "packages/b", "--coverage=all", "--json")

    found = json.loads(done.stdout)["coverage"]
    gaps = {file["file"]: file["missed"] for file in found["files"]}
    assert done.returncode == 0
    assert gaps["shared/shop.py"] == ["8"]
    assert found["partial"] is None


def test_a_shard_of_several_environments_is_refused_before_anything_runs(monorepo: Workbench) -> None:
    done = run(monorepo, "packages/a", "packages/b", "--shard=1/2")

    assert done.returncode == 4
    assert "is for one environment, but packages/a and packages/b have their own; run each alone" in done.stderr


def test_all_members_together_have_one_time_limit(monorepo: Workbench) -> None:
    member(monorepo, "endless", "pytest-9", ENDLESS)

    answer = json.loads(run(monorepo, "packages/endless", "packages/b", "--timeout=1", "--json").stdout)

    assert answer["exit_code"] == 2
    assert answer["notices"][1] == "packages/b was not run: the limit of 1 seconds had passed."


def test_discover_collects_each_in_its_own_environment(monorepo: Workbench) -> None:
    monorepo.write({"packages/b/tests/conftest.py": "import pytest\nassert pytest.__version__.startswith('7')\n"})

    done = typed("discover", "packages/a", "packages/b", cwd=monorepo.root, env=environment_of(monorepo))

    names = [f"packages/{name}/tests/test_x.py::{test}" for name in "ab" for test in ("test_meant", "test_bad")]
    assert (done.returncode, done.stdout.splitlines()) == (0, names)


def test_for_a_folder_that_has_only_members_with_environments_the_command_that_names_them_is_printed(
    monorepo: Workbench,
) -> None:
    done = run(monorepo, "packages")

    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == "fix: pytest-mcp run packages/a packages/b"


def test_without_a_path_at_a_root_without_an_environment_its_members_run_and_a_notice_says_so(
    monorepo: Workbench,
) -> None:
    environment = environment_of(monorepo)

    ready = run(monorepo)
    listed = typed("discover", cwd=monorepo.root, env=environment)
    member(monorepo, "c", None, BAD)
    partly = json.loads(run(monorepo, "--json").stdout)

    notice = (
        "The root has no environment of its own, so its members were taken, each with its own: packages/a, packages/b"
    )
    assert (ready.returncode, listed.returncode) == (1, 0)
    assert f"note: {notice}.\n" in ready.stdout
    assert ready.stdout.splitlines()[-1].startswith("failed: 2 failed, 2 passed in ")
    assert len(listed.stdout.splitlines()) == 4
    assert notice in listed.stderr
    # One that cannot run is no reason to run none, and is not kept secret.
    assert (partly["exit_code"], partly["summary"]["passed"]) == (4, 2)
    assert partly["notices"][0].startswith("packages/c did not finish: ")


OWN_TESTS = {
    "far below": {"tests/unit/deep/down/test_root.py": BAD},
    "with settings only": {"legacy/pyproject.toml": "[tool.black]\n", "legacy/tests/test_l.py": BAD},
    "linked": {".elsewhere/third/test_x.py": BAD, "third": "-> .elsewhere/third"},
}


@pytest.mark.parametrize("where", OWN_TESTS)
def test_tests_of_a_root_without_an_environment_make_the_run_incomplete(bench: Workbench, where: str) -> None:
    """They fail, and nothing can run them: green members do not stand for them."""
    lay(bench.root, {".git/HEAD": "", **OWN_TESTS[where]})
    for name in "ab":
        member(bench, name, "pytest-9", MEANT.format("9"))
    environment = environment_of(bench)

    answer = json.loads(run(bench, "--json").stdout)
    listed = typed("discover", cwd=bench.root, env=environment)
    doctor = typed("doctor", cwd=bench.root, env=environment)

    assert (answer["verdict"], answer["exit_code"], answer["summary"]["passed"]) == ("incomplete", 4, 2)
    assert answer["notices"][0].startswith("the project root was not run: it has tests outside of its members")
    assert len(listed.stdout.splitlines()) == 2
    assert (listed.returncode, "NOT COLLECTED .\n" in listed.stderr) == (2, True)
    # That it runs its members would not make it ready.
    assert doctor.stdout.splitlines()[-1].startswith("Next: python3 -m venv .venv && ")
    assert doctor.returncode == 1


WORKSPACE = (
    "[project]\nname = 'x'\n[tool.uv.workspace]\nmembers = ['packages/*']\n[dependency-groups]\ndev = ['pytest']\n"
)


@pytest.mark.parametrize("command", ["run", "discover", "doctor", "investigate tests/test_x.py::test_meant"])
def test_a_command_in_a_member_uses_the_environment_of_its_workspace(bench: Workbench, command: str) -> None:
    bench.write({"pyproject.toml": WORKSPACE})
    (bench.root / ".venv").symlink_to(ENVIRONMENTS["pytest-9"].python.parents[1])
    member(bench, "a", None, MEANT.format("9"))

    done = typed(*command.split(), cwd=bench.root / "packages/a", env=environment_of(bench))

    assert done.returncode == 0
    assert f"pytest-mcp: the environment is that of the workspace, {bench.root}/.venv\n" in done.stderr


async def test_an_agent_is_told_which_paths_to_name(monorepo: Workbench) -> None:
    config = monorepo.config._replace(python=None)

    failure = await call("execute_tests", {}, config)
    explained = succeeded(await call("explain_environment", {}, config))

    step = 'call with path="packages/a" or "packages/b", which have environments of their own'
    assert isinstance(failure, Failure)
    assert failure.message.splitlines()[-1] == f"fix: {step}"
    assert (explained["ready"], explained["next_step"]) == (False, step)
    assert [(each["folder"], each["problem"]) for each in explained["members"]] == [
        ("packages/a", None),
        ("packages/b", None),
    ]


def test_doctor_explains_the_environment_of_a_path_and_at_the_root_is_ready_if_its_members_are(
    monorepo: Workbench,
) -> None:
    environment = environment_of(monorepo)

    inside = typed("doctor", "b", "--json", cwd=monorepo.root / "packages", env=environment)
    at_root = typed("doctor", cwd=monorepo.root, env=environment)
    wrong = typed("doctor", "packages/c", cwd=monorepo.root, env=environment)

    answer = json.loads(inside.stdout)
    assert (inside.returncode, answer["pytest"]["version"][:3], answer["tests"]["count"]) == (0, "7.0", 2)
    assert (answer["interpreter"]["source"], answer["config"]["file"]) == (
        ".venv in packages/b",
        "packages/b/pyproject.toml",
    )
    assert "members" not in answer
    assert re.search(r"✓ packages/b +Python 3\.\d+\.\d+, pytest 7\.0", at_root.stdout)
    assert at_root.stdout.splitlines()[-2:] == [
        "Ready: 2 members have pytest; their tests were not collected",
        "Next: pytest-mcp run packages/a packages/b",
    ]
    assert (at_root.returncode, "✗" in at_root.stdout) == (0, False)
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_doctor_at_the_root_names_the_member_that_is_not_ready_and_how_to_examine_it(monorepo: Workbench) -> None:
    member(monorepo, "c", "no-pytest", BAD)
    environment = environment_of(monorepo)

    at_root = typed("doctor", "--json", cwd=monorepo.root, env=environment)
    above = typed("doctor", "packages", cwd=monorepo.root, env=environment)

    answer = json.loads(at_root.stdout)
    assert (at_root.returncode, answer["ready"]) == (1, False)
    assert answer["summary"] == "Not ready: packages/c: packages/c/.venv/bin/python has no pytest"
    assert answer["next_step"] == "pytest-mcp doctor packages/c"
    assert above.stdout.splitlines()[-1] == "Next: pytest-mcp doctor packages/a"
