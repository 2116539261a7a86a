"""What poetry is asked and answers, with the real poetry. It must leave everything as it was."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.process.job import Exit
from pytest_mcp.python.asked_managers import Poetry
from pytest_mcp.python.manager import Answer
from pytest_mcp.python.managers import kept_environments
from pytest_mcp.python.manifest import read_manifest
from pytest_mcp.python.query import Unanswered
from tests.support.projects.disk import fix_line, lay
from tests.support.projects.managed import BASE_PYTHON, Home, tree

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
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


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


async def ask(project: Path, home: Home, **variables: str) -> list[Answer]:
    """What is found, and a proof that finding it has changed nothing."""
    before = tree(home.folder, project)
    found = await kept_environments(read_manifest(project), {**home.environment, **variables}, project)
    assert tree(home.folder, project) == before
    return found


@pytest.mark.anyio
async def test_the_environment_in_use_is_found_although_another_one_is_active(
    managed_home: Home, used: tuple[Path, Path]
) -> None:
    project, prefix = used

    found = await ask(project, managed_home, VIRTUAL_ENV="/active", CONDA_PREFIX="/active", PYTHONPATH=str(project))

    assert found == [Answer("poetry", prefix / "bin" / "python", "poetry's environment")]


@pytest.mark.anyio
async def test_environments_for_other_pythons_than_the_one_on_the_path_are_found_newest_first(
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
            found = await ask(project, managed_home)
    finally:
        for other in others:
            shutil.rmtree(other)

    assert [(answer.python, answer.source) for answer in found] == [
        (other / "bin" / "python", f"poetry's environment {other.name}") for other in reversed(others)
    ]


@pytest.mark.anyio
async def test_a_project_without_an_environment_is_told(managed_home: Home, project: Path) -> None:
    found = await ask(project, managed_home)

    assert found == [
        Answer("poetry", None, "poetry's environment", "poetry has made no environment for this project yet")
    ]


@pytest.mark.anyio
async def test_an_environment_whose_python_is_gone_is_told(managed_home: Home, used: tuple[Path, Path]) -> None:
    project, prefix = used
    python = prefix / "bin" / "python"

    with aside(python, project.parent):
        python.symlink_to(project.parent / "nowhere")
        found = await ask(project, managed_home)

    assert found == [Answer("poetry", python, "poetry's environment", "does not exist")]


@pytest.mark.anyio
@pytest.mark.parametrize(("variables", "in_project", "in_home"), SETTINGS.values(), ids=SETTINGS)
async def test_poetry_is_not_asked_when_it_would_strike_out_its_note_of_an_environment_that_is_gone(
    managed_home: Home, project: Path, variables: dict[str, str], in_project: str, in_home: str
) -> None:
    settings = project.parent / "settings"
    settings.mkdir()
    given = {name: value.format(home=managed_home.folder) for name, value in variables.items()}
    given["POETRY_CONFIG_DIR"] = str(settings)
    for file, content in ((project / "poetry.toml", in_project), (settings / "config.toml", in_home)):
        file.write_text(content.format(home=managed_home.folder), encoding="utf-8")
    prefix = chosen_by_poetry(managed_home, project, **given)
    Poetry().question(project, {**managed_home.environment, **given})
    shutil.rmtree(prefix)

    (answer,) = await ask(project, managed_home, **given)

    assert answer.python is None
    assert answer.problem is not None
    assert prefix.name in answer.problem


@pytest.mark.anyio
async def test_a_project_above_is_not_asked_about(managed_home: Home, used: tuple[Path, Path]) -> None:
    project, _ = used

    (answer,) = await ask(project / "inner", managed_home)

    assert answer.python is None


@pytest.mark.anyio
async def test_what_poetry_complains_about_is_told_in_its_words(managed_home: Home, project: Path) -> None:
    (project / "poetry.lock").touch()
    (project / "pyproject.toml").write_text("[project", encoding="utf-8")

    (answer,) = await ask(project, managed_home)

    assert answer.problem is not None
    assert answer.problem.startswith("poetry said: Invalid TOML file")


def test_lines_that_are_no_paths_are_passed_over() -> None:
    said = ended("Skipping virtualenv creation\n/envs/a-py3.11\n\n/envs/b c-py3.12\n")

    assert {*Poetry().read(said)} == {Path("/envs/a-py3.11"), Path("/envs/b c-py3.12")}


def test_only_the_environment_in_use_counts_where_there_is_one() -> None:
    assert Poetry().read(ended("/envs/a-py3.11\n/envs/a-py3.12 (Activated)\n")) == [Path("/envs/a-py3.12")]


@given(st.text(max_size=200))
def test_whatever_is_printed_only_paths_come_of_it(printed: str) -> None:
    assert all(path.is_absolute() for path in Poetry().read(ended(printed)))


@pytest.mark.parametrize("notes", ["", "x = 3", "[a]\nminor = 3", "[[", '[thing-12345678]\nminor = "3.11"'])
def test_notes_that_say_nothing_of_this_project_hinder_nobody(project: Path, home: Home, notes: str) -> None:
    store = home.folder / ".cache" / "pypoetry" / "virtualenvs"
    store.mkdir(parents=True)
    (store / "envs.toml").write_text(notes, encoding="utf-8")

    question = Poetry().question(project, home.environment)

    assert {store, store / "envs.toml", project / "poetry.toml"} < {*question.sources}


def test_a_folder_without_a_pyproject_has_no_question(home: Home, tmp_path: Path) -> None:
    with pytest.raises(Unanswered):
        Poetry().question(tmp_path, home.environment)


POETRY = "[tool.poetry]\npackage-mode = false\n"


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "poetry add --group dev pytest", id="nowhere"),
        pytest.param("[tool.poetry.dependencies]\npytest = '*'", "poetry install", id="main"),
        pytest.param("[tool.poetry.dev-dependencies]\npytest = '*'", "poetry install --with dev", id="before groups"),
        pytest.param("[tool.poetry.group.t.dependencies]\nPyTest = '*'", "poetry install --with t", id="group"),
        pytest.param(
            "[tool.poetry.group.t]\noptional = true\n[tool.poetry.group.t.dependencies]\npytest = '*'",
            "poetry install --with t",
            id="optional group",
        ),
        pytest.param("[dependency-groups]\nt = ['pytest']", "poetry install --with t", id="standard group"),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.poetry.group.t]\noptional = true",
            "poetry install --with t",
            id="optional standard group",
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.poetry.group]\nt.optional = true\nqa.include-groups = ['t']",
            "poetry install --with t",
            id="included group",
        ),
        pytest.param(
            "[project.optional-dependencies]\nt = ['pytest']", "poetry install --extras t", id="standard extra"
        ),
        pytest.param(
            "[tool.poetry.dependencies]\npytest = {version = '*', optional = true}\n[tool.poetry.extras]\nt=['pytest']",
            "poetry install --extras t",
            id="extra",
        ),
    ],
)
def test_poetry_installs_what_is_declared_or_adds_it(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": declared, "poetry.toml": ""})

    assert fix_line(tmp_path, []) == line


def test_poetry_locks_again_what_the_lock_does_not_know(tmp_path: Path) -> None:
    declared = {"sub/pyproject.toml": POETRY + "[dependency-groups]\ndev = ['pytest']"}
    lay(tmp_path, {**declared, "sub/poetry.lock": "[metadata]\nlock-version = '2.1'\n"})
    stale = fix_line(tmp_path, [], folder=tmp_path / "sub")
    lay(tmp_path, {"sub/poetry.lock": '[[package]]\nname = "pytest"\n'})

    fresh = fix_line(tmp_path, [], folder=tmp_path / "sub")

    assert stale == "poetry -C sub lock && poetry -C sub install --with dev"
    assert fresh == "poetry -C sub install --with dev"
