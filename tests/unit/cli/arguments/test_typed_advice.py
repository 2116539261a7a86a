"""Advice as a person follows it: commands that work in the working directory, and no sentences for operators."""

import subprocess
from pathlib import Path

import pytest

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams, RunEnvironment, RunFacts
from pytest_mcp.cli import render
from pytest_mcp.cli.arguments import typed_advice
from pytest_mcp.cli.colours import Painter
from pytest_mcp.environments import advice
from pytest_mcp.report.environment import readiness
from tests.support.git import git

INSTALL = "python3 -m venv .venv && .venv/bin/python -m pip install pytest"


def with_python(python: str) -> list[str]:
    return ["pytest-mcp", "run", "--python", python]


def typed(line: str, root: Path) -> str:
    return typed_advice.typed(line, root, with_python)


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, two folders below the root."""
    folder = tmp_path / "a" / "tests" / "unit"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", str(folder))
    return folder


def test_a_command_goes_to_the_root_first_unless_it_is_typed_there(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unit.parent.parent

    assert typed(INSTALL, root) == f"cd ../.. && {INSTALL}"
    assert typed("printf '[pytest]\\n' > pytest.ini", root).startswith("cd ../.. && printf ")
    assert typed('UV_PROJECT_ENVIRONMENT="$PWD"/venv uv sync', root).startswith("cd ../.. && UV_")
    monkeypatch.chdir(root)
    assert typed(INSTALL, root) == INSTALL


def test_the_root_is_quoted_and_absolute_if_that_is_shorter(unit: Path) -> None:
    assert unit.is_dir()
    assert typed(INSTALL, Path("/a b")) == f"cd '/a b' && {INSTALL}"


def test_a_shell_that_came_through_a_symlink_is_led_to_the_root(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unit.parent.parent
    link = root.parent / "link"
    link.symlink_to(unit)
    monkeypatch.setenv("PWD", str(link))

    line = typed("python3 -c 'import os; print(os.getcwd())'", root)

    done = subprocess.run(["/bin/sh", "-c", f'cd "{link}" && {line}'], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(root)


def test_the_command_in_a_sentence_goes_to_the_root_too(unit: Path) -> None:
    sentence = "Install what the project needs into /a/.venv: .venv/bin/python -m pip install -e ."
    expected = "Install what the project needs into /a/.venv: cd ../.. && .venv/bin/python -m pip install -e ."

    assert typed(sentence, unit.parent.parent) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Correct tests/test_a.py.",
        "Provide what the test modules need, they skip themselves: python3 is too old",
        "Install what the project needs into /a/.venv, or correct the import.",
        'call with path="service", which has an environment of its own',
        "start pytest-mcp with --python and the path of the project's Python",
        "don't",
    ],
)
def test_a_sentence_is_not_taken_for_a_command(unit: Path, sentence: str) -> None:
    assert typed(sentence, unit.parent) == sentence


@pytest.mark.parametrize("start", ["start pytest-mcp with", "start pytest-mcp in '/a b', or give it"])
def test_a_python_that_the_operator_is_to_choose_is_a_command_with_it(unit: Path, start: str) -> None:
    assert typed(f"{start} --python '/a b/python3'", unit.parent) == "pytest-mcp run --python '/a b/python3'"


def failed(root: Path, *, interpreter: str | None) -> ExecutionFailed:
    facts = RunFacts(environment=RunEnvironment("/x", interpreter, [], None, None, None))
    return ExecutionFailed("environment", "no pytest", facts, details=["tried"], fix=advice.remedy(root, []))


def test_a_folder_that_is_no_project_gets_one_answer(tmp_path: Path) -> None:
    assert typed(readiness.ELSEWHERE, tmp_path) == typed_advice.ELSEWHERE
    error = failed(tmp_path, interpreter=None)
    said = typed_advice.message(error, tmp_path, with_python)

    assert said == f"no pytest\ntried\nfix: {typed_advice.ELSEWHERE}"
    assert "fix: python3 -m venv .venv && " in error.message
    assert "venv" in typed_advice.message(failed(tmp_path, interpreter="python"), tmp_path, with_python)
    (tmp_path / "setup.cfg").touch()
    assert "venv" in typed_advice.message(error, tmp_path, with_python)


def test_an_error_without_a_fix_keeps_its_message(tmp_path: Path) -> None:
    error = ExecutionFailed("crash", "fix: nothing", RunFacts())

    assert typed_advice.message(error, tmp_path, with_python) == error.message


def test_a_ref_that_was_typed_with_a_space_is_recognised(tmp_path: Path) -> None:
    git("init", cwd=tmp_path)
    git("commit", "--allow-empty", "-m", "nothing yet", cwd=tmp_path)
    git("branch", "topic", cwd=tmp_path)
    faults = [Fault(f"node_ids.{n}", "does not exist", "value_error", f"sub/{n}") for n in range(2)]

    def lines(changed: bool | str) -> list[str]:
        arguments = {"changed": changed, "node_ids": ["topic", "nowhere"]}
        error = typed_advice.with_refs(InvalidParams(faults), arguments, tmp_path)
        return render.of_error(error, Painter(has_colours=False))

    assert lines(True) == ["topic: is not a path; did you mean --changed=topic?", "sub/1: does not exist"]
    assert lines("main") == ["sub/0: does not exist", "sub/1: does not exist"]
