"""Advice as a person follows it: commands that work in the working directory, and no sentences for operators."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_mcp.api.advice import Advice, Sentence, by_operator, in_shell
from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams, RunEnvironment, RunFacts
from pytest_mcp.cli import render_run, typed_advice
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.environment import readiness
from pytest_mcp.python import remedies
from pytest_mcp.terminal.colours import Painter

INSTALL = "python3 -m venv .venv && .venv/bin/python -m pip install pytest"


def typist(root: Path) -> Typist:
    return Typist(root, lambda python: ["pytest-mcp", "run", "--python", python])


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, two folders below the root."""
    folder = tmp_path / "a b" / "tests" / "unit"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_a_command_goes_to_the_root_first_unless_it_is_typed_there(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unit.parent.parent
    sentence = Sentence("Install it: ", in_shell(INSTALL), ".")

    assert typed_advice.typed(sentence, typist(root)) == f"Install it: cd '{root}' && {INSTALL}."
    monkeypatch.chdir(root)
    assert typed_advice.typed(sentence, typist(root)) == f"Install it: {INSTALL}."


def test_words_without_advice_stay_as_they_are_even_if_they_are_those_of_a_command(unit: Path) -> None:
    assert typed_advice.typed(INSTALL, typist(unit.parent)) == INSTALL
    assert typed_advice.typed(by_operator("give it --python"), typist(unit.parent)) == "give it --python"


def test_a_python_that_the_operator_is_to_choose_is_a_command_with_it(unit: Path) -> None:
    advice = Sentence(Advice("python", "start pytest-mcp somehow", ("/a b/python3",)))

    assert typed_advice.typed(advice, typist(unit)) == "pytest-mcp run --python '/a b/python3'"


def test_folders_are_named_by_a_command_that_takes_them(unit: Path) -> None:
    advice = Sentence(Advice("folders", 'call with path="a" or "b"', ("a", "b")))

    naming = replace(typist(unit), with_folders=" ".join)

    assert typed_advice.typed(advice, naming) == "a b"
    assert typed_advice.typed(advice, typist(unit)) == 'call with path="a" or "b"'


def test_parameters_and_tools_are_flags_and_commands(unit: Path) -> None:
    used = Sentence(Advice("tool", "discover_tests"), " with ", Advice("parameter", "keywords"))
    filtered = Sentence(Advice("parameter", "show_capture"), ": ", Advice("typed", "send true", ("write nothing",)))

    assert used == "discover_tests with keywords"
    assert typed_advice.typed(used, typist(unit)) == typed_advice.typed(used, None) == "`pytest-mcp discover` with -k"
    assert typed_advice.typed(filtered, None) == "--show-capture: write nothing"


def failed(root: Path, *, interpreter: str | None) -> ExecutionFailed:
    facts = RunFacts(environment=RunEnvironment("/x", interpreter, [], None, None, None))
    return ExecutionFailed("environment", "no pytest", facts, details=["tried"], fix=remedies.remedy(root, []))


def test_a_folder_that_is_no_project_gets_one_answer(tmp_path: Path) -> None:
    assert typed_advice.typed(readiness.ELSEWHERE, typist(tmp_path)) == typed_advice.ELSEWHERE
    error = failed(tmp_path, interpreter=None)
    said = typed_advice.message(error, typist(tmp_path))

    assert said == f"no pytest\ntried\nfix: {typed_advice.ELSEWHERE}"
    assert "fix: python3 -m venv .venv && " in error.message
    assert "venv" in typed_advice.message(failed(tmp_path, interpreter="python"), typist(tmp_path))
    (tmp_path / "setup.cfg").touch()
    assert "venv" in typed_advice.message(error, typist(tmp_path))


def test_an_error_without_a_fix_keeps_its_message(tmp_path: Path) -> None:
    error = ExecutionFailed("crash", "fix: nothing", RunFacts())

    assert typed_advice.message(error, typist(tmp_path)) == error.message


def test_where_a_ref_may_have_been_typed_with_a_space_it_is_told_how() -> None:
    error = InvalidParams([Fault("node_ids.0", "does not exist", "value_error", "topic")])

    def lines(changed: bool | str) -> list[str]:
        meant = typed_advice.with_ref(error, {"changed": changed, "node_ids": ["topic"]})
        return render_run.error_lines(meant, Painter(has_colours=False))

    assert lines(True) == ["topic: does not exist; if it is a git ref, write --changed=REF"]
    assert lines("main") == ["topic: does not exist"]
