"""A folder in, the root of its project out."""

from pathlib import Path

import pytest

from pytest_mcp.python import project_root
from tests.support.projects.disk import environment, lay

PACKAGE = "[project]\nname = 'shop'\n"


@pytest.mark.parametrize(
    ("files", "root"),
    [
        ({"pyproject.toml": PACKAGE}, "."),
        ({"setup.py": ""}, "."),
        ({"setup.cfg": "[metadata]\n"}, "."),
        ({"Pipfile": ""}, "."),
        ({"pytest.ini": "[pytest]\n"}, "."),
        ({"tox.ini": "[pytest]\n"}, "."),
        ({".git/HEAD": ""}, "."),
        ({".git/HEAD": "", "tests/pytest.ini": "[pytest]\n"}, "tests"),
        ({"pyproject.toml": PACKAGE, "tests/pytest.ini": "[pytest]\n"}, "."),
        ({"pyproject.toml": PACKAGE, "tests/pyproject.toml": "[tool.ruff]\n"}, "."),
        ({"pyproject.toml": PACKAGE, "tests/pyproject.toml": PACKAGE}, "tests"),
        ({"pyproject.toml": PACKAGE, "tests/.git": "gitdir: elsewhere\n"}, "tests"),
        ({"pyproject.toml": "[tool.ruff\n"}, "."),
    ],
    ids=[
        *("pyproject", "setup.py", "setup.cfg", "a manager's file", "pytest.ini", "tox.ini", "git"),
        *("settings in a checkout", "settings in a package", "a linter's pyproject", "a member", "a submodule"),
        "a pyproject that cannot be parsed",
    ],
)
def test_the_root_is_the_nearest_package_and_otherwise_the_nearest_settings(
    tmp_path: Path, files: dict[str, str], root: str
) -> None:
    lay(tmp_path / "shop", {**files, "tests/unit/test_a.py": ""})

    found = project_root.find(tmp_path / "shop/tests/unit", home=tmp_path)

    assert found == tmp_path / "shop" / root


def test_a_folder_with_an_environment_is_a_project(tmp_path: Path) -> None:
    environment(tmp_path / "shop/.venv")
    (tmp_path / "shop/tests").mkdir()

    assert project_root.find(tmp_path / "shop/tests", home=tmp_path) == tmp_path / "shop"


def test_neither_the_home_folder_nor_one_above_it_is_a_project(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": PACKAGE, "home/setup.py": "", "home/notes/a.txt": ""})

    below, itself = (project_root.find(tmp_path / name, home=tmp_path / "home") for name in ("home/notes", "home"))

    assert (below, itself) == (None, None)
