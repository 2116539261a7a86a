"""A folder of checkouts is no monorepo: no code of a project below it is executed, whoever asks."""

import json
from pathlib import Path

import pytest

from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of
from tests.support.projects.disk import configured
from tests.support.workbench import Failure, Workbench, call

# What they leave behind shows that one of them was started.
PYTHON = '#!/bin/sh\ntouch {started}\nexec {python} "$@"\n'
TEST = "import pathlib\npathlib.Path({started!r}).touch()\ndef test_a(): pass\n"


@pytest.fixture
def checkouts(bench: Workbench) -> Workbench:
    started = str(started_of(bench))
    files = {
        "pyproject.toml": "[project]\nname = 'x'\n",
        "tests/test_x.py": TEST.format(started=started),
        ".venv/pyvenv.cfg": "version = 3.11\n",
        ".venv/bin/python": PYTHON.format(started=started, python=bench.python),
        ".venv/lib/python3.11/site-packages/pytest/__init__.py": "",
    }
    for name in "ab":
        bench.write({f"{name}/{file}": text for file, text in files.items()})
        (bench.root / name / ".venv/bin/python").chmod(0o755)
    return bench


def started_of(bench: Workbench) -> Path:
    return bench.root.parent / "started"


ID = "a/tests/test_x.py::test_a"
COMMANDS = ["run", "run a", "run a b", f"run {ID}", "discover", "discover a b", "doctor", "doctor a"]
COMMANDS += [f"investigate {ID}"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("with_python", [False, True])
def test_a_command_is_refused_in_one_sentence(checkouts: Workbench, command: str, *, with_python: bool) -> None:
    options = [f"--python={checkouts.python}"] if with_python else []

    done = typed(*options, *command.split(), cwd=checkouts.root, env=environment_of(checkouts))

    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(f"pytest-mcp: {checkouts.root} is not a project, but has projects below it, such as a: ")
    assert (done.stdout, done.returncode) == ("", 4 if command.startswith(("run", "discover", "investigate")) else 2)
    assert not started_of(checkouts).exists()


@pytest.mark.parametrize("arguments", ["{}", '{"path": "a"}'])
def test_call_prints_the_refusal_of_the_server_and_starts_nothing_ahead(checkouts: Workbench, arguments: str) -> None:
    done = typed("call", "execute_tests", arguments, cwd=checkouts.root, env=environment_of(checkouts))

    assert (json.loads(done.stdout)["data"]["error_type"], done.returncode) == ("environment", 1)
    assert not started_of(checkouts).exists()


@pytest.mark.parametrize("tool", ["execute_tests", "discover_tests", "explain_environment", "investigate_failure"])
async def test_every_tool_refuses(checkouts: Workbench, tool: str) -> None:
    places = [{"node_id": ID}] if tool == "investigate_failure" else [{}, {"path": "a"}]
    for config in (checkouts.config, configured(checkouts.root, environment={"PATH": "/usr/bin:/bin"})):
        for arguments in places:
            answer = await call(tool, dict(arguments), config)

            assert isinstance(answer, Failure)
            assert (answer.code, answer.data["error_type"]) == (-32000, "environment")
            assert len(answer.message.splitlines()) == 1
    assert not started_of(checkouts).exists()


def test_with_git_it_is_a_monorepo(checkouts: Workbench) -> None:
    checkouts.write({".git/HEAD": ""})

    done = typed("discover", cwd=checkouts.root, env=environment_of(checkouts))

    assert sorted(done.stdout.split()) == [ID, "b/tests/test_x.py::test_a"]
    assert started_of(checkouts).exists()
