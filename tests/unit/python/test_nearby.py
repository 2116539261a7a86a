"""Environments that the search passes by, and the line that leads to each."""

import subprocess
from pathlib import Path

import pytest

from pytest_mcp.config.model import Options, configure
from pytest_mcp.python import interpreter, nearby
from tests.support.projects.disk import environment, lay


def lead(root: Path, folder: Path, tried: list[Path]) -> str | None:
    return nearby.lead(root, folder, tried)


@pytest.mark.parametrize("name", ["env", "my env"])
def test_an_environment_under_another_name_is_linked_to_and_then_found(tmp_path: Path, name: str) -> None:
    environment(tmp_path / name, "pytest")
    config = configure(Options(root=str(tmp_path)), {})

    line = lead(tmp_path, tmp_path, [])
    assert line is not None
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)

    (found,) = interpreter.visible(config, tmp_path)
    assert (found.python, found.problem) == (tmp_path / ".venv/bin/python", None)


def test_where_there_is_no_room_for_a_link_the_operator_can_choose(tmp_path: Path) -> None:
    environment(tmp_path / "env", "pytest")
    prefix = environment(tmp_path / ".venv")

    line = lead(tmp_path, tmp_path, [prefix])

    assert line == f"start pytest-mcp with --python {tmp_path}/env/bin/python"


def test_an_environment_of_conda_counts_too(tmp_path: Path) -> None:
    prefix = environment(tmp_path / ".conda", "pytest")
    (prefix / "pyvenv.cfg").unlink()
    (prefix / "conda-meta").mkdir()

    assert lead(tmp_path, tmp_path, []) == "ln -s .conda .venv"


def test_an_environment_that_was_tried_or_has_no_pytest_or_no_python_leads_nowhere(tmp_path: Path) -> None:
    tried = environment(tmp_path / "tried", "pytest")
    environment(tmp_path / "bare")
    gone = environment(tmp_path / "gone", "pytest") / "bin/python"
    gone.unlink()
    gone.symlink_to(tmp_path / "nowhere")

    assert lead(tmp_path, tmp_path, [tried]) is None


def test_environments_of_folders_below_are_reached_by_naming_a_path(tmp_path: Path) -> None:
    environment(tmp_path / "services/a/.venv", "pytest")
    one = lead(tmp_path, tmp_path, [])
    for name in ("services/b", "libs/x/c", "services/d"):
        environment(tmp_path / name / "venv", "pytest")

    several = lead(tmp_path, tmp_path, [])
    below = lead(tmp_path, tmp_path / "libs", [])

    assert one == 'call with path="services/a", which has an environment of its own'
    assert several == (
        'call with path="services/a" or "services/b" or "services/d", which have environments of their own'
    )
    assert below == 'call with path="libs/x/c", which has an environment of its own'


@pytest.mark.parametrize("place", [".hidden/a", "node_modules/a", "a/b/c/d"])
def test_below_is_looked_only_where_services_lie(tmp_path: Path, place: str) -> None:
    environment(tmp_path / place / ".venv", "pytest")

    assert lead(tmp_path, tmp_path, []) is None


def test_an_environment_of_the_folder_itself_comes_before_those_below(tmp_path: Path) -> None:
    environment(tmp_path / "services/a/.venv", "pytest")
    prefix = environment(tmp_path / ".venv")

    assert lead(tmp_path, tmp_path, [prefix]) is None
    (prefix / "bin/python").unlink()
    assert lead(tmp_path, tmp_path, [prefix]) is not None


def test_links_are_not_followed_downwards(tmp_path: Path) -> None:
    environment(tmp_path / "elsewhere/a/.venv", "pytest")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/link").symlink_to(tmp_path / "elsewhere")

    assert lead(tmp_path / "root", tmp_path / "root", []) is None


@pytest.mark.parametrize(
    "sign", [{".git": "gitdir: x"}, {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['a/*']\n"}], ids=["git", "uv"]
)
def test_an_environment_above_the_root_is_the_operators_to_choose(tmp_path: Path, sign: dict[str, str]) -> None:
    lay(tmp_path, {**sign, "a/b/pyproject.toml": ""})
    environment(tmp_path / ".venv", "pytest")

    line = lead(tmp_path / "a/b", tmp_path / "a/b", [])

    assert line == f"start pytest-mcp in {tmp_path}, or give it --python {tmp_path}/.venv/bin/python"


def test_what_lies_above_without_belonging_together_leads_nowhere(tmp_path: Path) -> None:
    root = lay(tmp_path / "a", {".git/HEAD": "", "pyproject.toml": ""})
    lay(tmp_path, {".git/HEAD": "", "pyproject.toml": "[tool.uv.workspace]\nmembers = ['b']\n"})
    environment(tmp_path / ".venv", "pytest")

    assert lead(root, root, []) is None
