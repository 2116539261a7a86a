"""A project is read by the files that its tools keep, and by nothing else."""

import os
from pathlib import Path

import pytest

from pytest_mcp.environments import project
from tests.support.disk import lay

SIGNS = {
    "uv": [("uv.lock", ""), ("pyproject.toml", "[tool.uv]\nmanaged = true\n")],
    "poetry": [("poetry.lock", ""), ("pyproject.toml", "[tool.poetry]\nname = 'x'\n")],
    "pdm": [("pdm.lock", ""), (".pdm-python", "/x"), ("pyproject.toml", "[tool.pdm]\ndistribution = true\n")],
    "hatch": [("hatch.toml", ""), ("pyproject.toml", "[tool.hatch.envs.default]\ndependencies = ['pytest']\n")],
    "pipenv": [("Pipfile", "")],
    "pixi": [("pixi.toml", ""), ("pyproject.toml", "[tool.pixi.workspace]\nchannels = []\n")],
    "conda": [("environment.yml", ""), ("environment.yaml", "")],
}


@pytest.mark.parametrize(
    ("manager", "file", "content"), [(name, *sign) for name, signs in SIGNS.items() for sign in signs]
)
def test_a_manager_is_known_by_each_of_its_signs(tmp_path: Path, manager: str, file: str, content: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")

    assert project.read(tmp_path).managers == (manager,)


@pytest.mark.parametrize(
    "content",
    ["", "[tool.hatch.version]\npath = 'x'\n", "[tool]\nuv = 3\n", "not = [toml", "\x00", "a = " + "[" * 5000],
    ids=["empty", "built with hatchling", "no table", "unparsable", "no text", "deep"],
)
def test_a_pyproject_that_names_no_manager_is_no_sign(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")

    assert project.read(tmp_path).managers == ()


def test_a_file_in_another_encoding_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[\x00")

    assert project.read(tmp_path).pyproject == {}


def test_the_nearest_folder_with_a_manager_rules_and_nothing_above_the_root_does(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "services" / "a" / "tests").mkdir(parents=True)
    (tmp_path / "Pipfile").touch()
    (root / "services" / "a" / "uv.lock").touch()

    inside = project.nearest(root / "services" / "a" / "tests", root)
    beside = project.nearest(root / "services", root)

    assert (inside.folder, inside.managers) == (root / "services" / "a", ("uv",))
    assert (beside.folder, beside.managers) == (root, ())


def test_a_workspace_is_that_of_the_nearest_project_if_it_is_counted_there(tmp_path: Path) -> None:
    members = "[tool.uv.workspace]\nmembers = ['./libs/*/', 'apps/**']\nexclude = ['libs/old']\n"
    counted = ["libs/a", "apps/x/y"]
    others = ["libs/old", "libs/a/deeper", "tools"]
    lay(tmp_path, {"pyproject.toml": members, **{f"{name}/pyproject.toml": "" for name in counted + others}})
    (tmp_path / "libs/a/tests").mkdir()

    found = {name: project.workspace(tmp_path / name) for name in ["", "libs/a/tests", *counted, *others]}

    inside = [name for name, workspace in found.items() if workspace is not None]
    assert inside == ["", "libs/a/tests", *counted]
    assert {workspace.folder for workspace in found.values() if workspace} == {tmp_path}


def test_members_are_found_where_that_needs_no_long_walk_and_odd_patterns_find_none(tmp_path: Path) -> None:
    patterns = ["libs/*", "./one/", "deep/**", "/", ".", "./", "", "\\u0000", "[", "../*"]
    members = ", ".join(f'"{pattern}"' for pattern in patterns)
    root = lay(
        tmp_path / "root",
        {
            "pyproject.toml": f"[tool.uv.workspace]\nmembers = [{members}]\n",
            **{f"{name}/pyproject.toml": "" for name in ("libs/b", "libs/a", "one", "deep/c")},
        },
    )
    (root / "libs" / "none").mkdir()

    found = [member.folder for member in project.members(project.read(root))]

    assert found == [root / "libs/a", root / "libs/b", root / "one"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")

    assert project.toml(tmp_path / "pyproject.toml") == {}
