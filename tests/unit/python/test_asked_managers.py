"""Asking poetry and pipenv: the real ones, which must leave everything as it was, and small programs that count."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.process.job import Exit
from pytest_mcp.python.asked_managers import read_poetry
from pytest_mcp.python.managers import KeptEnvironment
from tests.support.projects.managed import BASE_PYTHON, Home, ask, ask_in_vain, asked, touched, tree
from tests.support.waiting import processes_in, until

PROJECT = """
[project]
name = "The_Thing"
version = "1"
requires-python = ">=3.8"

[tool.poetry]
package-mode = false
"""
COMMAND = ("poetry", "--no-plugins", "--no-interaction", "--no-ansi")
# Ways to tell poetry where to keep environments: by variables, by a file of the project, by one of the user.
SETTINGS: dict[str, tuple[dict[str, str], str, str]] = {
    "nothing": ({}, "", ""),
    "variables": ({"POETRY_CACHE_DIR": "{home}/ignored", "POETRY_VIRTUALENVS_PATH": "{home}/variable"}, "", ""),
    "the project": ({}, '[virtualenvs]\npath = "{{cache-dir}}/of-the-project"', 'cache-dir = "{home}/cache"'),
    "the user": ({"XDG_CACHE_HOME": "{home}/ignored"}, "", 'cache-dir = "~/of-the-user"'),
}


@pytest.fixture
def poetrys(project: Path) -> Path:
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return project


@pytest.fixture(scope="module")
def used(_managers: Home, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project and its environment in use, which poetry made. Tests leave both as they were."""
    folder = tmp_path_factory.mktemp("used") / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "inner" / "poetry.lock").touch()
    made = chosen_by_poetry(_managers, folder)
    # What its Python could import instead of what it needs.
    (folder / "cleo.py").write_text("raise SystemExit('not poetry itself')\n", encoding="utf-8")
    return folder, made


@contextmanager
def aside(path: Path, folder: Path) -> Iterator[None]:
    """Without this file or folder, until the block ends."""
    kept = shutil.move(path, folder / f"{path.name}.aside")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        shutil.move(kept, path)


def ended(stdout: str) -> Exit:
    return Exit(code=0, signal=None, reason="exited", duration=0.1, stdout=stdout, stderr="")


def chosen_by_poetry(home: Home, project: Path, **variables: str) -> Path:
    """Have it make an environment, and note that it is the one in use."""
    said = home.run(*COMMAND, "env", "use", BASE_PYTHON, cwd=project, **variables)
    return Path(said.strip().removeprefix("Using virtualenv: "))


async def ask_quietly(project: Path, home: Home, **variables: str) -> list[KeptEnvironment]:
    """What is found, and a proof that finding it has changed nothing."""
    before = tree(home.folder, project)
    answers = await ask(project, home, **variables)
    assert tree(home.folder, project) == before
    return answers


async def test_poetrys_environment_in_use_is_found_although_another_one_is_active(
    managed_home: Home, used: tuple[Path, Path]
) -> None:
    project, prefix = used
    misleading = {"VIRTUAL_ENV": "/active", "CONDA_PREFIX": "/active", "PYTHONPATH": str(project)}

    answers = await ask_quietly(project, managed_home, **misleading)

    assert answers == [KeptEnvironment("poetry", "poetry's environment", prefix / "bin" / "python")]


async def test_poetrys_environments_for_other_pythons_than_the_one_on_the_path_are_found_newest_first(
    managed_home: Home, used: tuple[Path, Path]
) -> None:
    """`poetry env info` tells of none of them, as `poetry install` does not note which Python it took."""
    project, made = used
    name = made.name.rpartition("-py")[0]
    others = [made.with_name(f"{name}-py3.{minor}") for minor in (99, 100)]
    for other in others:
        shutil.copytree(made, other, symlinks=True)
        (other / "pyvenv.cfg").write_text(f"version = 3.{other.name[-3:].strip('.')}.1\n", encoding="utf-8")

    try:
        with aside(made.with_name("envs.toml"), project.parent), aside(made, project.parent):
            answers = await ask_quietly(project, managed_home)
    finally:
        for other in others:
            shutil.rmtree(other)

    assert [(answer.python, answer.source) for answer in answers] == [
        (other / "bin" / "python", f"poetry's environment {other.name}") for other in reversed(others)
    ]


async def test_what_poetry_has_not_made_and_what_it_keeps_for_a_folder_above_is_no_environment(
    managed_home: Home, used: tuple[Path, Path], poetrys: Path
) -> None:
    project, _ = used

    none_yet = await ask_quietly(poetrys, managed_home)
    above = await ask_quietly(project / "inner", managed_home)

    nothing = "poetry has made no environment for this project yet"
    assert none_yet == [KeptEnvironment("poetry", "poetry's environment", problem=nothing)]
    assert [answer.python for answer in above] == [None]


@pytest.mark.parametrize(("variables", "in_project", "in_home"), SETTINGS.values(), ids=SETTINGS)
async def test_poetry_is_not_asked_when_it_would_strike_out_its_note_of_an_environment_that_is_gone(
    managed_home: Home, poetrys: Path, variables: dict[str, str], in_project: str, in_home: str
) -> None:
    settings = poetrys.parent / "settings"
    settings.mkdir()
    given = {name: value.format(home=managed_home.folder) for name, value in variables.items()}
    given["POETRY_CONFIG_DIR"] = str(settings)
    for file, content in ((poetrys / "poetry.toml", in_project), (settings / "config.toml", in_home)):
        file.write_text(content.format(home=managed_home.folder), encoding="utf-8")
    prefix = chosen_by_poetry(managed_home, poetrys, **given)
    (before,) = await ask(poetrys, managed_home, **given)
    shutil.rmtree(prefix)

    (answer,) = await ask_quietly(poetrys, managed_home, **given)

    assert (before.python, answer.python) == (prefix / "bin/python", None)
    assert prefix.name in (answer.problem or "")


async def test_what_poetry_complains_about_is_told_in_its_words(managed_home: Home, project: Path) -> None:
    (project / "poetry.lock").touch()
    (project / "pyproject.toml").write_text("[project", encoding="utf-8")

    assert (await ask_in_vain(project, managed_home)).startswith("poetry said: Invalid TOML file")


@given(st.text(max_size=200))
def test_only_paths_count_and_only_the_environment_in_use_where_there_is_one(printed: str) -> None:
    lines = "Skipping virtualenv creation\n/envs/a-py3.11\n\n/envs/b c-py3.12\n"

    assert {*read_poetry(ended(lines))} == {Path("/envs/a-py3.11"), Path("/envs/b c-py3.12")}
    assert read_poetry(ended(f"{lines}/envs/a-py3.12 (Activated)\n")) == [Path("/envs/a-py3.12")]
    assert all(path.is_absolute() for path in read_poetry(ended(printed)))


@pytest.mark.parametrize("notes", ["", "x = 3", "[a]\nminor = 3", "[[", '[thing-12345678]\nminor = "3.11"'])
async def test_notes_that_say_nothing_of_this_project_hinder_nobody(project: Path, home: Home, notes: str) -> None:
    poetry_of_the_test(home, project)
    (home.folder / ".cache/pypoetry/virtualenvs/envs.toml").write_text(notes, encoding="utf-8")

    await ask(project, home)

    assert asked(home) == 1


# pipenv

NO_ENVIRONMENT = "pipenv has made no environment for this project yet"


async def test_pipenvs_environment_is_found_although_variables_and_a_file_mislead_and_none_of_a_project_above(
    managed_home: Home, project: Path
) -> None:
    managed_home.run("pipenv", "--python", BASE_PYTHON, cwd=project)
    (prefix,) = managed_home.folder.glob(".local/share/virtualenvs/project-*")
    (project / ".env").write_text(f"WORKON_HOME={project}\n", encoding="utf-8")
    (project / "inner").mkdir()
    (project / "inner" / "Pipfile.lock").touch()
    misleading = {"VIRTUAL_ENV": "/active", "PIPENV_ACTIVE": "1", "PIPENV_PIPFILE": "/elsewhere"}

    answers = await ask_quietly(project, managed_home, **misleading)

    assert answers == [KeptEnvironment("pipenv", "pipenv's environment", prefix / "bin" / "python")]
    assert await ask_in_vain(project / "inner", managed_home) == NO_ENVIRONMENT


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

    assert problems == [NO_ENVIRONMENT] * 3
    assert tree(tmp_path, managed_home.folder) == before


# What is cached of their answers


def poetry_of_the_test(home: Home, project: Path) -> Path:
    """A poetry that notes each question and answers it, after a word from the test; the Python that it names."""
    (project / "poetry.lock").touch()
    store = home.folder / ".cache" / "pypoetry" / "virtualenvs"
    python = home.make(store / "thing-py3.11")
    release = home.folder / "release"
    release.touch()
    waiting = f"until [ -e {release} ]; do sleep 0.02; done"
    home.program("poetry", f"echo x >> {home.folder}/asked; {waiting}; echo '{store}/thing-py3.11'")
    return python


POETRYS_FILES = [
    *(f"project/{name}" for name in ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")),
    "home/.config/pypoetry/config.toml",
    "home/.cache/pypoetry/virtualenvs",
    "home/.cache/pypoetry/virtualenvs/envs.toml",
    "home/.cache/pypoetry/virtualenvs/thing-py3.11/pyvenv.cfg",
    "home/bin/poetry",
]


async def test_poetrys_answer_is_remembered_until_a_file_that_it_rests_on_has_changed(
    home: Home, project: Path
) -> None:
    python = poetry_of_the_test(home, project)
    answers = [await ask(project, home) for _ in range(3)]
    questions = {"": asked(home)}

    for changed in POETRYS_FILES:
        before = asked(home)
        touched(project.parent / changed)
        await ask(project, home)
        await ask(project, home)
        questions[changed] = asked(home) - before

    assert answers == [[KeptEnvironment("poetry", "poetry's environment", python)]] * 3
    assert questions == dict.fromkeys(["", *POETRYS_FILES], 1)


@pytest.mark.parametrize("name", ["Pipfile.lock", "../home/kept"])
async def test_what_pipenv_answers_rests_on_its_files_and_its_folder(home: Home, project: Path, name: str) -> None:
    (project / "Pipfile").touch()
    home.make(home.folder / "kept" / "thing")
    home.program("pipenv", f"echo x >> {home.folder}/asked; echo {home.folder}/kept/thing")
    first = await ask(project, home, WORKON_HOME="~/kept")

    touched(project / name)
    second = await ask(project, home, WORKON_HOME="~/kept")

    assert first == second == [KeptEnvironment("pipenv", "pipenv's environment", home.folder / "kept/thing/bin/python")]
    assert asked(home) == 2


@pytest.mark.parametrize("script", ["exit 1", "true"])
async def test_an_answer_without_a_python_is_never_remembered(home: Home, project: Path, script: str) -> None:
    (project / "poetry.lock").touch()
    home.program("poetry", f"echo x >> {home.folder}/asked; {script}")

    problems = [await ask_in_vain(project, home) for _ in range(2)]

    assert problems[0] == problems[1]
    assert asked(home) == 2


async def test_calls_at_the_same_time_ask_once(home: Home, project: Path) -> None:
    poetry_of_the_test(home, project)
    (home.folder / "release").unlink()

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(ask, project, home)
        await until(lambda: asked(home))
        (home.folder / "release").touch()

    assert asked(home) == 1


async def test_cancelling_ends_what_was_asked_and_the_next_call_asks_anew(home: Home, project: Path) -> None:
    poetry_of_the_test(home, project)
    (home.folder / "release").unlink()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, project, home)
        await until(lambda: asked(home))
        tasks.cancel_scope.cancel()

    assert processes_in(project) == []
    (home.folder / "release").touch()
    assert len(await ask(project, home)) == 1
    assert asked(home) == 2
