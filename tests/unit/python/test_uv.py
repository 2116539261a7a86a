"""Workspaces of uv, and the line that installs pytest with it.

Lines of each kind have been run in real projects, where pytest could then be imported.
"""

from pathlib import Path

import pytest

from pytest_mcp.python import uv
from tests.support.projects.disk import broken, environment, fix_line, lacking, lay

UV = "[tool.uv]\npackage = false\n"


WORKSPACE = {
    # Above the workspace, so it does not count there.
    "pyproject.toml": "[dependency-groups]\noutside = ['pytest']\n",
    "mono/pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n",
    "mono/packages/a/pyproject.toml": "[dependency-groups]\nunit = ['pytest']\n",
    "mono/packages/b/pyproject.toml": "[tool.uv]\npackage = false\n",
    "mono/packages/old/pyproject.toml": "[tool.uv]\npackage = false\n",
}


ABOVE = "env UV_PROJECT_ENVIRONMENT={root}/.venv"
# For a group of any member, and for a workspace that declares pytest nowhere.
ANYWHERE = "--all-groups && uv pip install --python"


def test_a_workspace_is_that_of_the_nearest_project_if_it_is_counted_there(tmp_path: Path) -> None:
    members = "[tool.uv.workspace]\nmembers = ['./libs/*/', 'apps/**']\nexclude = ['libs/old']\n"
    counted = ["libs/a", "apps/x/y"]
    others = ["libs/old", "libs/a/deeper", "tools"]
    lay(tmp_path, {"pyproject.toml": members, **{f"{name}/pyproject.toml": "" for name in counted + others}})
    (tmp_path / "libs/a/tests").mkdir()

    found = {name: uv.workspace(tmp_path / name) for name in ["", "libs/a/tests", *counted, *others]}

    inside = [name for name, workspace in found.items() if workspace is not None]
    assert inside == ["", "libs/a/tests", *counted]
    assert {workspace.folder for workspace in found.values() if workspace} == {tmp_path}


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "uv add --dev pytest", id="nowhere"),
        pytest.param("[project]\ndependencies = ['pytest']", "uv sync", id="main"),
        pytest.param("[dependency-groups]\ndev = ['pytest']", "uv sync --group dev", id="group by default"),
        pytest.param("[dependency-groups]\ntest = ['pytest']", "uv sync --group test", id="other group"),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\ndev = [{include-group = 't'}]",
            "uv sync --group t",
            id="included by default",
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\nqa = [{include-group = 'T'}]\n[tool.uv]\ndefault-groups = ['qa']",
            "uv sync --group t",
            id="chosen default",
        ),
        pytest.param(
            "[dependency-groups]\ndev = ['pytest']\n[tool.uv]\ndefault-groups = []",
            "uv sync --group dev",
            id="no default",
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.uv]\ndefault-groups = 'all'",
            "uv sync --group t",
            id="all by default",
        ),
        pytest.param("[project.optional-dependencies]\nt = ['pytest']", "uv sync --extra t", id="extra"),
        pytest.param(
            "[dependency-groups]\ndev = ['pytest-cov']\n[project.optional-dependencies]\nt = ['pytest']",
            "uv sync --extra t",
            id="itself before a plugin",
        ),
        pytest.param("[dependency-groups]\ndev = ['pytest-cov']", "uv sync --group dev", id="a plugin brings it"),
        pytest.param("[dependency-groups]\ndev = ['pytest-runner']", "uv add --dev pytest", id="no plugin"),
        pytest.param(
            "[dependency-groups]\ntyping = ['pytest']\nall-tests = ['pytest']",
            "uv sync --group all-tests",
            id="named after tests",
        ),
        pytest.param("[dependency-groups]\n'a b' = ['pytest']", "uv add --dev pytest", id="no name"),
    ],
)
def test_uv_installs_what_is_declared_or_adds_it(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": declared, "uv.lock": ""})

    assert fix_line(tmp_path, []) == line


def test_uv_keeps_what_was_installed_besides(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ntest = ['pytest']"})
    prefix = environment(tmp_path / ".venv", "six")

    assert fix_line(tmp_path, [lacking(prefix)]) == "uv sync --inexact --group test"


def test_uv_replaces_a_broken_environment_but_a_folder_that_is_none_makes_room(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    prefix = environment(tmp_path / ".venv")
    replaced = fix_line(tmp_path, [broken(prefix)])
    (prefix / "pyvenv.cfg").unlink()

    moved = fix_line(tmp_path, [broken(prefix)])

    assert (replaced, moved) == ("uv sync --group dev", "mv .venv .venv-broken && uv sync --group dev")


@pytest.mark.parametrize(
    ("root", "folder", "line"),
    [
        pytest.param("mono", "", f"uv sync --all-packages {ANYWHERE} .venv pytest", id="whole"),
        pytest.param("mono", "packages/a/tests", "uv sync --all-packages --group unit", id="member"),
        pytest.param("mono", "packages/b", f"uv sync --all-packages {ANYWHERE} .venv pytest", id="member without"),
        pytest.param("mono", "packages/old", "uv add --project packages/old --dev pytest", id="no member"),
        pytest.param(
            "", "mono", f"uv sync --project mono --all-packages {ANYWHERE} mono/.venv pytest", id="deeper, whole"
        ),
        pytest.param("", "mono/packages/a", "uv sync --project mono --all-packages --group unit", id="deeper"),
        pytest.param("mono/packages/a", "", f"{ABOVE} uv sync --group unit", id="above"),
        pytest.param("mono/packages/b", "", f"{ABOVE} uv add --dev pytest", id="above, nowhere"),
        pytest.param("mono/packages/old", "", "uv add --dev pytest", id="above, no member"),
    ],
)
def test_members_of_a_uv_workspace_share_its_environment_unless_it_is_above_the_root(
    tmp_path: Path, root: str, folder: str, line: str
) -> None:
    lay(tmp_path, WORKSPACE)

    told = fix_line(tmp_path / root, [], folder=tmp_path / root / folder)

    assert told == line.format(root=tmp_path / root)
