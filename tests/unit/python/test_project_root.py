"""The root of a folder's project, and in which folders nothing is run."""

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


# In which folders nothing is run, because they are no project and others are below them

PROJECTS = {
    "a package": {"a/pyproject.toml": PACKAGE},
    "one deep below": {"one/two/three/four/setup.py": ""},
    "one without project files": {"a/.git/HEAD": "", "a/test_a.py": ""},
    "a lone environment": {"a/.venv/pyvenv.cfg": ""},
    "one beside tests of nobody": {"a/setup.py": "", "tests/test_x.py": "", "src/x.py": ""},
    "the file of a manager": {"a/Pipfile": ""},
}


@pytest.mark.parametrize("what", PROJECTS)
def test_a_folder_that_is_no_project_is_refused_for_what_is_below(tmp_path: Path, what: str) -> None:
    lay(tmp_path, PROJECTS[what])

    refusal = project_root.refusal(tmp_path)

    assert refusal is not None
    assert refusal.startswith(f"{tmp_path} is not a project, but has projects below it, such as ")


@pytest.mark.parametrize("file", ["pyproject.toml", "setup.py", ".git", "pytest.ini", "uv.lock"])
def test_a_project_file_or_git_of_its_own_makes_it_a_project(tmp_path: Path, file: str) -> None:
    lay(tmp_path, {**PROJECTS["a package"], file: ""})

    assert project_root.refusal(tmp_path) is None


@pytest.mark.parametrize("file", ["requirements.txt", "conftest.py"])
def test_requirements_and_a_conftest_make_it_a_project_unless_a_checkout_is_below(tmp_path: Path, file: str) -> None:
    lay(tmp_path, {"examples/one/setup.py": "", "two/setup.py": "", file: ""})
    plain = project_root.refusal(tmp_path)
    lay(tmp_path, {"two/.git/HEAD": ""})

    assert plain is None
    assert "has projects below it, such as two:" in (project_root.refusal(tmp_path) or "")


def test_a_link_to_a_project_elsewhere_is_a_project_below(tmp_path: Path) -> None:
    lay(tmp_path, {"other/deep/setup.py": "", "here/a": "-> ../other/deep"})

    assert project_root.refusal(tmp_path / "here") is not None


NO_PROJECTS = {
    "nothing": {},
    "tests with settings of their own": {"tests/conftest.py": "", "tests/pytest.ini": "", "tests/pyproject.toml": ""},
    "what a tool wrote": {"node_modules/a/setup.py": "", ".tox/a/setup.py": ""},
}


@pytest.mark.parametrize("what", NO_PROJECTS)
def test_a_plain_folder_of_tests_is_run(tmp_path: Path, what: str) -> None:
    lay(tmp_path, {"test_a.py": "", **NO_PROJECTS[what]})
    lay(environment(tmp_path / ".venv", "pytest"), {"lib/python3.11/site-packages/x/setup.py": ""})

    assert project_root.refusal(tmp_path) is None


def test_a_folder_that_is_too_large_to_be_searched_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_root, "_MAX_FOLDERS", 3)
    lay(tmp_path, {f"{number}/x.txt": "" for number in range(9)})

    assert "than can be searched" in (project_root.refusal(tmp_path) or "")
    lay(tmp_path, {"requirements.txt": ""})
    assert project_root.refusal(tmp_path) is None
