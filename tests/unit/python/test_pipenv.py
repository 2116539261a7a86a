"""What pipenv answers, with the real pipenv, and the line that installs pytest.

Lines of each kind have been run in real projects, where pytest could then be imported.
"""

from pathlib import Path

import pytest

from pytest_mcp.python.manager import Answer
from tests.support.projects.managed import BASE_PYTHON, Home, ask, ask_in_vain, asked, touched, tree

PROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'


NO_ENVIRONMENT = "has made no environment for this project yet"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


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
