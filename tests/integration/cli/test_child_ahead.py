"""The child of `run` and `call` starts while the command loads its modules, and waits for its job."""

import json
import subprocess
import sys

import pytest

from pytest_mcp.server import fast_start
from pytest_mcp.tools import BY_NAME
from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of, settings_of
from tests.support.leftovers import given, waiting
from tests.support.waiting import until
from tests.support.workbench import Workbench

# A test that tells whether its process was started ahead: then it has one argument more.
TELLING = """
    import json, pathlib

    def test_telling():
        arguments = pathlib.Path("/proc/self/cmdline").read_bytes().split(b"\\0")[1:-1]
        pathlib.Path(__file__).with_name("told.json").write_text(json.dumps(len(arguments) == 3))
"""
MARKING = "import pathlib\npathlib.Path(__file__).with_name('imported').touch()\n"


@pytest.mark.parametrize(
    ("words", "is_ahead"),
    [
        (["run"], True),
        (["call", "execute_tests", '{"node_ids": ["test_telling.py"]}'], True),
        (["run", "--no-spare"], False),
    ],
    ids=["run", "call", "no-spare"],
)
def test_the_run_uses_the_child_that_was_started_ahead(bench: Workbench, words: list[str], is_ahead: bool) -> None:
    bench.write({"test_telling.py": TELLING})

    done = typed(*settings_of(bench), *words, cwd=bench.root, env=environment_of(bench))

    assert done.returncode == 0, done.stderr
    assert json.loads((bench.root / "told.json").read_text()) == is_ahead


@pytest.mark.parametrize(
    ("words", "exit_code", "starts"),
    [
        (["run", "--no-such-flag"], 4, 0),
        (["run", "--max-tokens=1"], 4, 1),
        (["call", "execute_tests", '{"path": "../outside"}'], 1, 0),
        (["call", "execute_tests", '{"keywords": "("}'], 1, 1),
    ],
    ids=["flag", "value", "path", "expression"],
)
def test_what_is_refused_runs_no_code_of_the_project_and_leaves_nothing(
    bench: Workbench, words: list[str], exit_code: int, starts: int
) -> None:
    """Python itself may have been started, but only for what does not depend on the project."""
    log, temporary = bench.root.parent / "starts", bench.root.parent / "temporary"
    temporary.mkdir()
    python = bench.root.parent / "python"
    python.write_text(f'#!/bin/sh\necho started >> {log}\nexec {bench.python} "$@"\n')
    python.chmod(0o755)
    bench.write({"conftest.py": MARKING, "test_a.py": MARKING})
    settings = [f"--root={bench.root}", f"--python={python}"]

    done = typed(*settings, *words, cwd=bench.root, env=environment_of(bench, TMPDIR=str(temporary)))

    assert done.returncode == exit_code, done.stderr
    assert not (bench.root / "imported").exists()
    assert len(log.read_text().splitlines() if log.exists() else []) <= starts
    assert list(temporary.iterdir()) == []
    assert given(str(temporary)) == set()


async def test_nothing_is_left_of_it_if_the_command_is_killed(bench: Workbench) -> None:
    """While `run -` waits for ids on stdin, its child waits for the job."""
    temporary = bench.root.parent / "temporary"
    temporary.mkdir()
    bench.write({"conftest.py": MARKING})
    command = subprocess.Popen(
        [sys.executable, "-m", "pytest_mcp", *settings_of(bench), "run", "-"],
        cwd=bench.root,
        env=environment_of(bench, TMPDIR=str(temporary)),
        stdin=subprocess.PIPE,
    )
    await until(lambda: waiting(temporary))

    command.kill()
    command.communicate()

    await until(lambda: not given(str(temporary)))
    assert list(temporary.iterdir()) == []
    assert not (bench.root / "imported").exists()


def test_it_is_started_before_the_event_loop_and_the_models_are_loaded() -> None:
    source = """
import sys
import pytest_mcp.__main__, pytest_mcp.cli.commands.call, pytest_mcp.cli.commands.run
print({"asyncio", "anyio", "pydantic"} & set(sys.modules))
"""

    done = subprocess.run([sys.executable, "-c", source], capture_output=True, encoding="utf-8", check=True)

    assert done.stdout == "set()\n"


def test_flags_come_from_the_schema_of_the_tool() -> None:
    """From its stored copy, in the same order."""
    stored, made = fast_start.input_schema("execute_tests"), BY_NAME["execute_tests"].input_schema

    assert stored == made
    assert list(stored["properties"]) == list(made["properties"])
