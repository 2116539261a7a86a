"""Which targets are run together, told from files alone."""

from pathlib import Path

from pytest_mcp.api import targets
from pytest_mcp.config.model import Config
from pytest_mcp.python.members import by_environment
from tests.support.projects.disk import configured, environment, lay

MEMBERS = {f"packages/{name}/tests/test_x.py": "" for name in "abc"}


def split(config: Config, *names: str) -> list[list[str]]:
    found = [targets.parse_node_id(name, config.root) for name in names]
    return [[target.node_id for target in part] for part in by_environment(found, config)]


def test_targets_with_one_environment_stay_together_in_their_order(tmp_path: Path) -> None:
    lay(tmp_path, MEMBERS)
    environment(tmp_path / ".venv", "pytest")
    environment(tmp_path / "packages/b/.venv", "pytest")

    parts = split(
        configured(tmp_path), "packages/b", "packages/c", "packages/b/tests/test_x.py::test_a", "packages/a/tests"
    )

    assert parts == [["packages/b", "packages/b/tests/test_x.py::test_a"], ["packages/c", "packages/a/tests"]]


def test_the_operators_python_is_one_environment_for_all(tmp_path: Path) -> None:
    lay(tmp_path, MEMBERS)
    for name in "ab":
        environment(tmp_path / f"packages/{name}/.venv", "pytest")
    python = tmp_path / "packages/a/.venv/bin/python"

    assert len(split(configured(tmp_path, python=python), "packages/a", "packages/b")) == 1


def test_members_whose_own_environments_lack_pytest_share_that_of_the_root(tmp_path: Path) -> None:
    lay(tmp_path, MEMBERS)
    environment(tmp_path / ".venv", "pytest")
    for name in "ab":
        environment(tmp_path / f"packages/{name}/.venv")

    assert len(split(configured(tmp_path), "packages/a", "packages/b")) == 1


def test_without_any_environment_each_manager_is_asked_for_its_own_folder(tmp_path: Path) -> None:
    lay(tmp_path, {**MEMBERS, **{f"packages/{name}/poetry.lock": "" for name in "ab"}})

    assert split(configured(tmp_path), "packages/a", "packages/b", "packages/c") == [
        ["packages/a"],
        ["packages/b"],
        ["packages/c"],
    ]


def test_members_of_a_uv_workspace_without_an_environment_share_the_one_to_come(tmp_path: Path) -> None:
    workspace = {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n", "uv.lock": ""}
    lay(tmp_path, {**MEMBERS, **workspace, **{f"packages/{name}/pyproject.toml": "[tool.uv]\n" for name in "ab"}})

    assert len(split(configured(tmp_path), "packages/a", "packages/b")) == 1
