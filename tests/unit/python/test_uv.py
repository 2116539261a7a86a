"""Workspaces of uv."""

from pathlib import Path

from pytest_mcp.python import uv
from tests.support.projects.disk import lay


def test_a_workspace_is_that_of_the_nearest_project_if_it_is_counted_there(tmp_path: Path) -> None:
    members = "[tool.uv.workspace]\nmembers = ['./libs/*/', 'apps/**']\nexclude = ['libs/old']\n"
    counted = ["libs/a", "apps/x/y"]
    others = ["libs/old", "libs/a/deeper", "tools"]
    lay(tmp_path, {"pyproject.toml": members, **{f"{name}/pyproject.toml": "" for name in counted + others}})
    (tmp_path / "libs/a/tests").mkdir()

    found = {name: uv.workspace(tmp_path / name) for name in ["", "libs/a/tests", *counted, *others]}

    inside = [name for name, workspace in found.items() if workspace is not None]
    assert inside == ["", "libs/a/tests", *counted]
    assert {workspace for workspace in found.values() if workspace} == {tmp_path}
