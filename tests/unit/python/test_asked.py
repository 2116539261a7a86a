"""Asking a manager, and what is cached of its answers: with a small program that counts the questions."""

from pathlib import Path

import anyio
import pytest

from pytest_mcp.python import query
from pytest_mcp.python.manager import Answer
from tests.support.projects.managed import Home, ask, ask_in_vain, asked, touched
from tests.support.waiting import processes_in, until

PROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


def stand_in(home: Home, project: Path) -> Path:
    """A poetry that notes each question and answers it, after a word from the test; the Python that it names."""
    (project / "poetry.lock").touch()
    store = home.folder / ".cache" / "pypoetry" / "virtualenvs"
    python = home.make(store / "thing-py3.11")
    release = home.folder / "release"
    release.touch()
    home.program(
        "poetry",
        f"echo x >> {home.folder}/asked; until [ -e {release} ]; do sleep 0.02; done; echo '{store}/thing-py3.11'",
    )
    return python


@pytest.mark.anyio
async def test_a_manager_that_is_not_there_is_told(home: Home, project: Path) -> None:
    (project / "poetry.lock").touch()

    assert await ask_in_vain(project, home) == "poetry is not on the PATH of the server"


@pytest.mark.anyio
async def test_a_manager_that_does_not_answer_is_told(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "QUESTION_SECONDS", 1)
    (project / "poetry.lock").touch()
    home.program("poetry", "sleep 600")

    assert await ask_in_vain(project, home) == "poetry did not answer within 1 seconds"
    assert processes_in(project) == []


RESTS_ON = [
    *(f"project/{name}" for name in ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")),
    "home/.config/pypoetry/config.toml",
    "home/.cache/pypoetry/virtualenvs",
    "home/.cache/pypoetry/virtualenvs/envs.toml",
    "home/.cache/pypoetry/virtualenvs/thing-py3.11/pyvenv.cfg",
    "home/bin/poetry",
]


@pytest.mark.anyio
async def test_an_answer_is_remembered_and_then_starts_nothing(home: Home, project: Path) -> None:
    python = stand_in(home, project)

    answers = [await ask(project, home) for _ in range(3)]

    assert answers == [[Answer("poetry", python, "poetry's environment")]] * 3
    assert asked(home) == 1


@pytest.mark.anyio
async def test_it_is_asked_again_when_a_file_that_the_answer_rests_on_has_changed(home: Home, project: Path) -> None:
    stand_in(home, project)
    await ask(project, home)
    questions = {}

    for changed in RESTS_ON:
        before = asked(home)
        touched(project.parent / changed)
        await ask(project, home)
        await ask(project, home)
        questions[changed] = asked(home) - before

    assert questions == dict.fromkeys(RESTS_ON, 1)


@pytest.mark.anyio
async def test_it_is_asked_again_when_the_python_is_another(home: Home, project: Path) -> None:
    python = stand_in(home, project)
    await ask(project, home)

    python.unlink()
    home.program(python.name, "", python.parent)
    await ask(project, home)

    assert asked(home) == 2


@pytest.mark.anyio
async def test_it_is_asked_again_when_a_variable_is_another(home: Home, project: Path) -> None:
    stand_in(home, project)

    for _ in range(2):
        await ask(project, home)
        await ask(project, home, POETRY_VIRTUALENVS_CREATE="false")

    assert asked(home) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("script", ["exit 1", "true", "echo /no/such/environment"])
async def test_an_answer_without_a_python_is_never_remembered(home: Home, project: Path, script: str) -> None:
    (project / "poetry.lock").touch()
    home.program("poetry", f"echo x >> {home.folder}/asked; {script}")

    problems = [await ask_in_vain(project, home) for _ in range(2)]

    assert problems[0] == problems[1]
    assert asked(home) == 2


@pytest.mark.anyio
async def test_calls_at_the_same_time_ask_once(home: Home, project: Path) -> None:
    stand_in(home, project)
    (home.folder / "release").unlink()
    answers = []

    async def call() -> None:
        answers.append(await ask(project, home))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(call)
        await until(lambda: asked(home))
        (home.folder / "release").touch()

    assert len(answers) == 4
    assert asked(home) == 1


@pytest.mark.anyio
async def test_cancelling_ends_what_was_asked_and_the_next_call_asks_anew(home: Home, project: Path) -> None:
    stand_in(home, project)
    (home.folder / "release").unlink()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, project, home)
        await until(lambda: asked(home))
        tasks.cancel_scope.cancel()

    assert processes_in(project) == []
    (home.folder / "release").touch()
    assert len(await ask(project, home)) == 1
    assert asked(home) == 2
