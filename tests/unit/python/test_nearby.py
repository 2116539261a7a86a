"""Environments that the search passes by, and the line that leads to each."""

import subprocess
from pathlib import Path

import pytest

from pytest_mcp.config.model import Options, configure
from pytest_mcp.python import interpreter, nearby
from tests.support.projects.disk import environment, lay


@pytest.mark.parametrize("name", ["env", "my env"])
def test_an_environment_under_another_name_is_linked_to_and_then_found(tmp_path: Path, name: str) -> None:
    environment(tmp_path / name, "pytest")
    config = configure(Options(root=str(tmp_path)), {})

    line = nearby.lead(tmp_path, tmp_path, [])
    assert line is not None
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)

    (found,) = interpreter.visible(config, tmp_path)
    assert (found.python, found.problem) == (tmp_path / ".venv/bin/python", None)


def test_where_there_is_no_room_for_a_link_the_operator_can_choose(tmp_path: Path) -> None:
    environment(tmp_path / "env", "pytest")
    prefix = environment(tmp_path / ".venv")

    assert nearby.lead(tmp_path, tmp_path, [prefix]) == f"start pytest-mcp with --python {tmp_path}/env/bin/python"


def test_an_environment_that_was_tried_or_has_no_pytest_or_no_python_leads_nowhere(tmp_path: Path) -> None:
    tried = environment(tmp_path / "tried", "pytest")
    environment(tmp_path / "bare")
    gone = environment(tmp_path / "gone", "pytest") / "bin/python"
    gone.unlink()
    gone.symlink_to(tmp_path / "nowhere")

    assert nearby.lead(tmp_path, tmp_path, [tried]) is None


def test_environments_of_folders_below_are_reached_by_naming_a_path_unless_the_folder_has_its_own(
    tmp_path: Path,
) -> None:
    for name in ("services/a/.venv", "services/b/venv", "libs/x/c/venv", "services/d/venv"):
        environment(tmp_path / name, "pytest")

    several = nearby.lead(tmp_path, tmp_path, [])
    below = nearby.lead(tmp_path, tmp_path / "libs", [])
    own = environment(tmp_path / ".venv")

    assert several is not None
    assert several.startswith('call with path="services/a" or "services/b" or "services/d", ')
    assert below == 'call with path="libs/x/c", which has an environment of its own'
    assert nearby.lead(tmp_path, tmp_path, [own]) is None


@pytest.mark.parametrize("place", [".hidden/a", "node_modules/a", "a/b/c/d", "../elsewhere/a"])
def test_below_is_looked_only_where_services_lie(tmp_path: Path, place: str) -> None:
    environment(tmp_path / "root" / place / ".venv", "pytest")
    lay(tmp_path / "root", {"link": "-> ../elsewhere"})

    assert nearby.lead(tmp_path / "root", tmp_path / "root", []) is None


@pytest.mark.parametrize(
    ("sign", "leads"),
    [
        ({".git": "gitdir: x"}, True),
        ({"pyproject.toml": "[tool.uv.workspace]\nmembers = ['a/*']\n"}, True),
        ({".git": "", "a/b/.git": "", "pyproject.toml": "[tool.uv.workspace]\nmembers = ['b']\n"}, False),
    ],
    ids=["git", "uv", "another checkout"],
)
def test_an_environment_above_the_root_is_the_operators_to_choose_if_they_belong_together(
    tmp_path: Path, sign: dict[str, str], leads: bool
) -> None:
    lay(tmp_path, {"a/b/pyproject.toml": "", **sign})
    environment(tmp_path / ".venv", "pytest")

    line = nearby.lead(tmp_path / "a/b", tmp_path / "a/b", [])

    expected = f"start pytest-mcp in {tmp_path}, or give it --python {tmp_path}/.venv/bin/python"
    assert line == (expected if leads else None)
