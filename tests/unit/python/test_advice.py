"""Files in, line out.

Lines of each kind for uv, poetry, pdm, hatch and pipenv have been run in real projects, where pytest could then be
imported. Those for pixi and conda follow their documentation.
"""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.python import advice
from pytest_mcp.python.advice import addition
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from tests.support.projects.disk import broken, environment, every_manager, fix_line, lacking, lay

UV = "[tool.uv]\npackage = false\n"
PDM = "[tool.pdm]\ndistribution = false\n"
HATCH = "[tool.hatch.envs.default]\nskip-install = true\n"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"uv.toml": "", "pyproject.toml": ""}, "uv add --project 'a b' --dev pytest"),
        ({"poetry.toml": "", "pyproject.toml": ""}, "poetry -C 'a b' add --group dev pytest"),
        ({"pyproject.toml": PDM}, "cd 'a b' && pdm add -dG test pytest"),
        ({"hatch.toml": ""}, "cd 'a b' && hatch test -- --version"),
        ({"Pipfile": ""}, "cd 'a b' && pipenv install --dev pytest"),
        ({"pixi.toml": ""}, "cd 'a b' && pixi add pytest"),
        (
            {"environment.yml": "- pytest"},
            "conda env create --prefix .venv --file 'a b/environment.yml'",
        ),
    ],
    ids=["uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "conda"],
)
def test_a_manager_of_another_folder_is_pointed_at_it(tmp_path: Path, files: dict[str, str], line: str) -> None:
    lay(tmp_path / "a b", files)

    assert fix_line(tmp_path, [], folder=tmp_path / "a b") == line


def test_of_several_managers_the_one_with_a_lock_counts_and_otherwise_the_one_that_declares_pytest(
    tmp_path: Path,
) -> None:
    lay(tmp_path, {"pyproject.toml": UV + PDM + "[tool.poetry.dependencies]\npytest = '*'\n"})
    declaring = fix_line(tmp_path, [])
    lay(tmp_path, {"pdm.lock": ""})

    locking = fix_line(tmp_path, [])

    assert (declaring, locking) == ("poetry install", "pdm add -dG test pytest")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"pyproject.toml": PDM + "[project]\ndependencies = ['pytest']"}, "pdm install"),
        ({"pyproject.toml": PDM + "[dependency-groups]\nt = ['pytest']"}, "pdm install"),
        ({"pyproject.toml": PDM + "[project.optional-dependencies]\nt = ['pytest']"}, "pdm add -dG test pytest"),
        ({"pyproject.toml": HATCH + "dependencies = ['pytest']"}, "hatch run python -m pytest --version"),
        ({"hatch.toml": "[envs.default]\nextra-dependencies = ['pytest']"}, "hatch run python -m pytest --version"),
        ({"pyproject.toml": "[tool.hatch.envs.test]\ndependencies = ['pytest']"}, "hatch test -- --version"),
        ({"pyproject.toml": "[dependency-groups]\nx = ['pytest']", "hatch.toml": ""}, "hatch test -- --version"),
        ({"Pipfile": "[packages]\npytest = '*'"}, "pipenv install --dev"),
        ({"Pipfile": "[dev-packages]\npytest = '*'"}, "pipenv install --dev"),
        ({"Pipfile": "", "pyproject.toml": "[project]\ndependencies = ['pytest']"}, "pipenv install --dev pytest"),
        ({"pixi.toml": "[dependencies]\npytest = '*'"}, "pixi install"),
        ({"pyproject.toml": "[tool.pixi.pypi-dependencies]\npytest = '*'"}, "pixi install"),
        ({"pixi.toml": "[feature.t.dependencies]\npytest = '*'"}, "pixi add pytest"),
        ({"pixi.toml": "", "pyproject.toml": "[dependency-groups]\nt = ['pytest']"}, "pixi add pytest"),
    ],
)
def test_a_manager_with_one_row_installs_what_it_always_installs_and_adds_everything_else(
    tmp_path: Path, files: dict[str, str], line: str
) -> None:
    lay(tmp_path, files)

    assert fix_line(tmp_path, []) == line


def test_a_manager_with_one_row_gets_a_broken_environment_out_of_its_way(tmp_path: Path) -> None:
    lay(tmp_path, {"a/Pipfile": ""})
    prefix = environment(tmp_path / "a/.venv")
    working = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "a")
    (prefix / "bin/python").unlink()

    again = fix_line(tmp_path, [broken(prefix)], folder=tmp_path / "a")

    assert working == "cd a && pipenv install --dev pytest"
    assert again == "mv a/.venv a/.venv-broken && cd a && pipenv install --dev pytest"


@pytest.mark.parametrize("file", ["uv.toml", "poetry.toml", ".pdm-python"])
def test_a_manager_that_needs_a_pyproject_is_none_without_it(tmp_path: Path, file: str) -> None:
    lay(tmp_path, {file: ""})

    assert fix_line(tmp_path, []).startswith("python3 -m venv .venv && ")


def test_the_operators_own_choice_is_corrected_or_gets_pytest_itself(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    chosen = environment(tmp_path / "my env", settings="uv = 0.9\n")
    environment(tmp_path / "env", "pytest")

    wrong = fix_line(tmp_path, [Candidate(tmp_path / "python", "--python", "does not exist")])
    right = fix_line(tmp_path, [lacking(chosen, "--python")])

    assert wrong.startswith("correct --python, or omit it")
    assert right == "uv pip install --python 'my env/bin/python' --group dev"


def test_an_environment_with_pytest_comes_before_anything_that_installs_it(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    environment(tmp_path / "env", "pytest")

    assert fix_line(tmp_path, []) == "ln -s env .venv"


def test_a_folder_outside_the_root_counts_as_the_root(tmp_path: Path) -> None:
    lay(tmp_path, {"root/Pipfile": "", "elsewhere/pdm.lock": "", "elsewhere/pyproject.toml": ""})

    assert fix_line(tmp_path / "root", [], folder=tmp_path / "elsewhere") == "pipenv install --dev pytest"


def toml(values: dict[str, Any]) -> str:
    return "".join(f"{_inline(key)} = {_inline(value)}\n" for key, value in values.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_inline(key)} = {_inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'
    return json.dumps(value)


def tables(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Tables with some of these keys, or anything else where a table should be."""
    return st.fixed_dictionaries({}, optional={key.replace("_", "-"): value for key, value in keys.items()}) | VALUES


NAMES = st.sampled_from(
    ["pytest", "pytest-cov", "dev", "test", "default", "hatch-test", "./packages/*", "./", "**", "["]
)
TEXTS = NAMES | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
INCLUDED = st.builds(lambda name: {"include-group": name}, TEXTS)
LISTED = st.lists(TEXTS | INCLUDED, max_size=3) | VALUES
BY_NAME = st.dictionaries(TEXTS, LISTED, max_size=3) | VALUES
GROUPS = st.dictionaries(TEXTS, tables(optional=VALUES, dependencies=BY_NAME, include_groups=LISTED), max_size=2)
HATCHS = tables(dependencies=LISTED, extra_dependencies=LISTED, features=LISTED, dependency_groups=LISTED)
FEATURES = st.dictionaries(TEXTS, tables(dependencies=BY_NAME, target=st.dictionaries(TEXTS, BY_NAME, max_size=1)))
OF_PIXI = tables(dependencies=BY_NAME, feature=FEATURES | VALUES, environments=BY_NAME)
WORKSPACES = tables(members=LISTED, exclude=LISTED)
TOOLS = {
    "uv": tables(dev_dependencies=LISTED, default_groups=LISTED, workspace=WORKSPACES),
    "poetry": tables(dependencies=BY_NAME, dev_dependencies=BY_NAME, group=GROUPS | VALUES, extras=BY_NAME),
    "pdm": tables(dev_dependencies=BY_NAME),
    "hatch": tables(envs=st.dictionaries(TEXTS, HATCHS, max_size=2) | VALUES),
    "pixi": OF_PIXI,
}
TOOL = st.sampled_from(sorted(TOOLS)).flatmap(lambda name: st.fixed_dictionaries({name: TOOLS[name]})) | VALUES
PYPROJECTS = st.fixed_dictionaries(
    {"tool": TOOL, "dependency-groups": BY_NAME},
    optional={"project": tables(dependencies=LISTED, optional_dependencies=BY_NAME), "build-system": VALUES},
)
LOCKS = tables(metadata=tables(groups=LISTED), default=BY_NAME, develop=BY_NAME)
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "Pipfile": tables(packages=BY_NAME, dev_packages=BY_NAME),
    "Pipfile.lock": LOCKS,
    "pdm.lock": LOCKS,
    "uv.lock": LOCKS,
    "pixi.toml": OF_PIXI,
    "hatch.toml": tables(envs=BY_NAME),
    "setup.cfg": LOCKS,
    "requirements.txt": LISTED,
}
OTHER: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.sampled_from(sorted(OTHERS)).flatmap(
    lambda name: st.fixed_dictionaries({name: OTHERS[name]})
)


@given(PYPROJECTS, OTHER, st.booleans())
def test_whatever_the_files_hold_there_is_one_line(
    pyproject: dict[str, Any], other: dict[str, Any], there: bool
) -> None:
    written = {
        name: toml(content) if isinstance(content, dict) and name != "Pipfile.lock" else json.dumps(content)
        for name, content in {"pyproject.toml": pyproject, **other}.items()
    }
    with TemporaryDirectory() as folder:
        root = lay(Path(folder), written)
        rejected = [lacking(environment(root / ".venv"))] if there else []

        line = fix_line(root, rejected, folder=root / "a" / "b")

    assert line.isprintable()
    assert line


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell to ask")
@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_shell_takes_the_line_whatever_the_folder_is_called(name: str) -> None:
    if name in (".", ".."):
        return
    with TemporaryDirectory() as folder:
        root = lay(Path(folder).resolve(), {f"{name}/Pipfile": ""})

        line = fix_line(root, [], folder=root / name)
        if not name.isprintable():
            assert line.startswith("start pytest-mcp")
            return
        seen = subprocess.run(
            ["sh", "-c", line.replace("pipenv install --dev pytest", "cat Pipfile")],
            cwd=root,
            capture_output=True,
            check=False,
        )

    assert (seen.returncode, seen.stdout, seen.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"uv.toml": "", "pyproject.toml": ""}, "uv add --dev pytest-xdist"),
        ({"poetry.toml": "", "pyproject.toml": ""}, "poetry add --group dev pytest-xdist"),
        ({"pyproject.toml": PDM}, "pdm add -dG test pytest-xdist"),
        ({"hatch.toml": ""}, ".venv/bin/python -m pip install pytest-xdist"),
        ({"Pipfile": ""}, "pipenv install --dev pytest-xdist"),
        ({"pixi.toml": ""}, "pixi add pytest-xdist"),
        ({}, ".venv/bin/python -m pip install pytest-xdist"),
        ({"requirements-dev.txt": "pytest\npytest-xdist\n"}, ".venv/bin/python -m pip install -r requirements-dev.txt"),
        (
            {"uv.lock": "", "pyproject.toml": "[dependency-groups]\ndev = ['pytest', 'pytest_xdist']\n"},
            "uv sync --inexact --group dev",
        ),
    ],
    ids=["uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "pip", "declared for pip", "declared for uv"],
)
def test_a_package_is_added_as_the_project_is_kept_or_installed_if_it_is_declared(
    tmp_path: Path, files: dict[str, str], line: str
) -> None:
    environment(tmp_path / ".venv", "pip", "pytest")
    lay(tmp_path, files)
    chosen = Candidate(tmp_path / ".venv/bin/python", ".venv in the project root")

    assert addition("pytest-xdist", chosen, tmp_path, tmp_path, every_manager()) == line


def test_a_python_of_the_operators_choice_gets_a_package_by_its_own_pip(tmp_path: Path) -> None:
    environment(tmp_path / "other", "pip", "pytest")
    lay(tmp_path, {"uv.lock": "", "pyproject.toml": ""})
    chosen = Candidate(tmp_path / "other/bin/python", OPERATORS_CHOICE)

    added = addition("pytest-xdist", chosen, tmp_path, tmp_path, every_manager())
    assert added == "other/bin/python -m pip install pytest-xdist"


HATCHLING = "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"


def on_path(folder: Path, *programs: str) -> str:
    """A PATH of one folder with these programs."""
    lay(folder, dict.fromkeys(programs, "#!/bin/sh\n"))
    for name in programs:
        (folder / name).chmod(0o755)
    return str(folder)


def line(root: Path, search_path: str, *rejected: Candidate) -> str:
    return advice.remedy(root, rejected, search_path=search_path)


def test_a_python_on_path_that_has_pytest_is_named_instead_of_a_new_environment(tmp_path: Path) -> None:
    lay(tmp_path / "shop", {"requirements.txt": "pytest\n"})
    search_path = on_path(tmp_path / "usr/bin", "python3.11")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    without = line(tmp_path / "shop", search_path)
    (tmp_path / "usr/lib/python3.12/site-packages/pytest").mkdir(parents=True)
    of_another = line(tmp_path / "shop", search_path)
    (tmp_path / "usr/lib/python3.11/site-packages/pytest").mkdir(parents=True)

    named = line(tmp_path / "shop", search_path)

    assert without == of_another
    assert without.startswith("python3 -m venv .venv && ")
    assert named == f"start pytest-mcp with --python {tmp_path / 'usr/bin/python3'}"


def test_an_environment_of_the_project_and_an_installed_manager_come_before_a_python_on_path(tmp_path: Path) -> None:
    environment(tmp_path / "opt", "pytest")
    search_path = on_path(tmp_path / "opt/bin", "python3")
    lay(tmp_path / "shop", {"uv.toml": "", "pyproject.toml": ""})
    own = environment(tmp_path / "shop/.venv")

    lines = [
        line(tmp_path / "shop", search_path),
        line(tmp_path / "shop", search_path, lacking(own)),
        line(tmp_path / "shop", on_path(tmp_path / "opt/bin", "uv")),
    ]

    assert lines == [
        f"start pytest-mcp with --python {tmp_path / 'opt/bin/python3'}",
        ".venv/bin/python -m ensurepip && .venv/bin/python -m pip install pytest",
        "uv add --dev pytest",
    ]


BUILT = "[build-system]\nrequires = ['flit_core']\n"
IN_A_GROUP = "[dependency-groups]\ntests = ['pytest']\n"
PIP = ".venv/bin/python -m pip install"


@pytest.mark.parametrize(
    ("files", "new", "into_one"),
    [
        (
            {"uv.lock": "", "pyproject.toml": UV + BUILT + IN_A_GROUP},
            f"python3 -m venv .venv && {PIP} 'pip>=25.1' && {PIP} -e . --group tests",
            f"{PIP} 'pip>=25.1' && {PIP} --group tests",
        ),
        (
            {"pyproject.toml": BUILT + "[tool.poetry.group.dev.dependencies]\npytest = '*'\n"},
            f"python3 -m venv .venv && {PIP} -e . pytest",
            f"{PIP} pytest",
        ),
        (
            {"Pipfile": "[dev-packages]\npytest = '*'\n"},
            "install pipenv, which is not on PATH, and run: pipenv install --dev",
            f"{PIP} pytest",
        ),
        (
            {"pixi.toml": "[tasks]\n"},
            "install pixi, which is not on PATH, and run: pixi add pytest",
            f"{PIP} pytest",
        ),
    ],
    ids=["uv", "poetry", "pipenv", "pixi"],
)
def test_a_manager_that_is_not_installed_is_replaced_by_pip_unless_pip_cannot_read_what_the_project_needs(
    tmp_path: Path, files: dict[str, str], new: str, into_one: str
) -> None:
    lay(tmp_path, files)
    without = line(tmp_path, "")
    own = environment(tmp_path / ".venv", "pip")
    chosen = Candidate(own / "bin/python", ".venv in the project root")

    lines = [line(tmp_path, "", lacking(own)), addition("pytest-xdist", chosen, tmp_path, tmp_path, "")]

    assert without == new
    assert lines == [into_one, f"{PIP} pytest-xdist"]


def test_a_manager_in_the_environment_itself_is_installed(tmp_path: Path) -> None:
    lay(tmp_path, {"uv.toml": "", "pyproject.toml": ""})
    own = environment(tmp_path / ".venv", "pip")
    on_path(own / "bin", "uv")

    assert line(tmp_path, "", lacking(own)) == "uv add --dev pytest"


def test_an_environment_of_uv_gets_pip_where_uv_is_gone(tmp_path: Path) -> None:
    own = environment(tmp_path / ".venv", settings="uv = 0.9\n")

    assert line(tmp_path, "", lacking(own)) == f".venv/bin/python -m ensurepip && {PIP} pytest"


@pytest.mark.parametrize(
    ("pyproject", "expected"),
    [
        ("[build-system]\nbuild-backend = 'uv_build'\n", "uv add --dev pytest"),
        (HATCHLING, "python3 -m venv .venv && .venv/bin/python -m pip install -e . pytest"),
        (
            HATCHLING + "[project.optional-dependencies]\ntest = ['pytest']\n",
            "python3 -m venv .venv && .venv/bin/python -m pip install -e '.[test]'",
        ),
    ],
    ids=["uv init --lib", "hatchling", "hatchling with an extra"],
)
def test_a_build_backend_shows_which_manager_a_new_project_uses(tmp_path: Path, pyproject: str, expected: str) -> None:
    lay(tmp_path / "shop", {"pyproject.toml": pyproject})

    assert line(tmp_path / "shop", on_path(tmp_path / "bin", "uv", "hatch")) == expected
