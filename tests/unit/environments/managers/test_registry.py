"""Which environments the managers keep: with the real ones, and with small stand-ins where asking is to be counted."""

import os
from pathlib import Path

import anyio
import pytest

from pytest_mcp.environments import project as manifest
from pytest_mcp.environments.managers import query
from pytest_mcp.environments.managers.registry import Answer, environments
from tests.support.managed import BASE_PYTHON, Home, tree
from tests.support.waiting import processes_in, until

PROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'
NO_ENVIRONMENT = "has made no environment for this project yet"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


async def ask(project: Path, home: Home, **variables: str) -> list[Answer]:
    return await environments(manifest.read(project), {**home.environment, **variables}, project)


async def ask_in_vain(project: Path, home: Home, **variables: str) -> str:
    """Why there is no Python."""
    (answer,) = await ask(project, home, **variables)
    assert answer.problem is not None
    return answer.problem


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


def asked(home: Home) -> int:
    """How many questions have been noted."""
    notes = home.folder / "asked"
    return len(notes.read_text(encoding="utf-8").splitlines()) if notes.exists() else 0


# pdm


@pytest.mark.anyio
async def test_the_python_that_pdm_has_chosen_is_found_without_pdm(
    managed_home: Home, project: Path, home: Home
) -> None:
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_VENV_IN_PROJECT="0")
    python = Path((project / ".pdm-python").read_text(encoding="utf-8"))
    before = tree(managed_home.folder, project)

    found = await ask(project, home)

    assert found == [Answer("pdm", python, "pdm's environment")]
    assert python.is_relative_to(managed_home.folder)
    assert tree(managed_home.folder, project) == before


@pytest.mark.anyio
async def test_a_python_that_does_not_see_pdms_packages_is_told(managed_home: Home, project: Path) -> None:
    (project / "__pypackages__").mkdir()
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_USE_VENV="0")

    (answer,) = await ask(project, managed_home)

    assert answer.python is not None
    assert answer.python.samefile(BASE_PYTHON)
    assert answer.problem is not None
    assert "__pypackages__" in answer.problem


@pytest.mark.anyio
async def test_an_environment_beside_old_packages_of_pdms_is_taken(home: Home, project: Path) -> None:
    python = home.make(home.folder / "env")
    (project / "__pypackages__").mkdir()
    (project / ".pdm-python").write_text(f"{python}\n", encoding="utf-8")

    assert await ask(project, home) == [Answer("pdm", python, "pdm's environment")]


@pytest.mark.anyio
@pytest.mark.parametrize("content", ["", " \n", "\x00", "/no/such/python", "/" + "x" * 5000, "\ud800"])
async def test_a_choice_of_pdms_that_leads_nowhere_is_told(home: Home, project: Path, content: str) -> None:
    (project / ".pdm-python").write_text(content, encoding="utf-8", errors="surrogatepass")

    assert await ask_in_vain(project, home)


@pytest.mark.anyio
async def test_a_project_for_which_pdm_has_chosen_nothing_is_told_and_left_alone(
    managed_home: Home, project: Path
) -> None:
    """`pdm info` would make an environment."""
    (project / "pdm.lock").touch()
    before = tree(managed_home.folder, project)

    problem = await ask_in_vain(project, managed_home)

    assert problem == "pdm has chosen no Python for this project yet"
    assert tree(managed_home.folder, project) == before


# pipenv


@pytest.mark.anyio
async def test_the_environment_that_pipenv_keeps_is_found_although_variables_and_a_file_mislead(
    managed_home: Home, project: Path
) -> None:
    managed_home.run("pipenv", "--python", BASE_PYTHON, cwd=project)
    (prefix,) = managed_home.folder.glob(".local/share/virtualenvs/project-*")
    (project / ".env").write_text(f"WORKON_HOME={project}\n", encoding="utf-8")
    before = tree(managed_home.folder, project)

    found = await ask(project, managed_home, VIRTUAL_ENV="/active", PIPENV_ACTIVE="1", PIPENV_PIPFILE="/elsewhere")

    assert found == [Answer("pipenv", prefix / "bin" / "python", "pipenv's environment")]
    assert tree(managed_home.folder, project) == before


@pytest.mark.anyio
async def test_a_pipfile_above_is_not_asked_about(managed_home: Home, project: Path) -> None:
    managed_home.run("pipenv", "--python", BASE_PYTHON, cwd=project)
    (project / "inner").mkdir()
    (project / "inner" / "Pipfile.lock").touch()

    assert await ask_in_vain(project / "inner", managed_home) == f"pipenv {NO_ENVIRONMENT}"


@pytest.mark.anyio
async def test_pipenv_is_not_asked_where_it_would_make_the_folder_for_its_environments(
    managed_home: Home, project: Path, tmp_path: Path
) -> None:
    (project / "Pipfile").touch()
    before = tree(tmp_path, managed_home.folder)

    problems = [
        await ask_in_vain(project, managed_home, WORKON_HOME=f"{tmp_path}/kept"),
        await ask_in_vain(project, managed_home, XDG_DATA_HOME=f"{tmp_path}/data"),
        await ask_in_vain(project, managed_home, HOME=f"{tmp_path}"),
    ]

    assert problems == [f"pipenv {NO_ENVIRONMENT}"] * 3
    assert tree(tmp_path, managed_home.folder) == before


@pytest.mark.anyio
async def test_what_pipenv_complains_about_is_told_in_its_words(managed_home: Home, project: Path) -> None:
    (project / "Pipfile").write_text("[[", encoding="utf-8")

    problem = await ask_in_vain(project, managed_home, WORKON_HOME=str(managed_home.folder))

    assert problem.startswith("pipenv said: ")
    assert "TOMLDecodeError" in problem


# all of them


@pytest.mark.anyio
async def test_the_answers_come_in_the_order_of_the_managers(home: Home, project: Path) -> None:
    for name in ("Pipfile", "hatch.toml", "pdm.lock", "poetry.lock", "uv.lock", "pixi.lock", "environment.yml"):
        (project / name).touch()

    found = await ask(project, home)

    assert [answer.manager for answer in found] == ["poetry", "pdm", "hatch", "pipenv"]
    assert [answer.python for answer in found] == [None] * 4


@pytest.mark.anyio
async def test_nothing_is_asked_of_a_manager_that_does_not_keep_the_project(home: Home, project: Path) -> None:
    for name in ("poetry", "pdm", "hatch", "pipenv"):
        home.program(name, f"echo x >> {home.folder}/asked")
    (project / "uv.lock").touch()

    assert await ask(project, home) == []
    assert asked(home) == 0


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


# what is remembered


RESTS_ON = [
    *(f"project/{name}" for name in ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")),
    "home/.config/pypoetry/config.toml",
    "home/.cache/pypoetry/virtualenvs",
    "home/.cache/pypoetry/virtualenvs/envs.toml",
    "home/.cache/pypoetry/virtualenvs/thing-py3.11/pyvenv.cfg",
    "home/bin/poetry",
]


def touched(path: Path) -> None:
    """Another time for a file that is there, or a file that was not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, ns=(1, 1))


@pytest.mark.anyio
async def test_an_answer_is_remembered_and_then_starts_nothing(home: Home, project: Path) -> None:
    python = stand_in(home, project)

    answers = [await ask(project, home) for _ in range(3)]

    assert answers == [[Answer("poetry", python, "poetry's environment")]] * 3
    assert asked(home) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("changed", RESTS_ON)
async def test_it_is_asked_again_when_a_file_that_the_answer_rests_on_has_changed(
    home: Home, project: Path, changed: str
) -> None:
    stand_in(home, project)
    await ask(project, home)

    touched(project.parent / changed)
    await ask(project, home)
    await ask(project, home)

    assert asked(home) == 2


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
@pytest.mark.parametrize("name", ["Pipfile", "Pipfile.lock", ".venv", "../home/kept"])
async def test_what_pipenv_answers_rests_on_its_files_and_its_folder(home: Home, project: Path, name: str) -> None:
    (project / "Pipfile").touch()
    home.make(home.folder / "kept" / "thing")
    home.program("pipenv", f"echo x >> {home.folder}/asked; echo {home.folder}/kept/thing")
    first = await ask(project, home, WORKON_HOME="~/kept")

    touched(project / name)
    second = await ask(project, home, WORKON_HOME="~/kept")

    assert first == second == [Answer("pipenv", home.folder / "kept/thing/bin/python", "pipenv's environment")]
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
