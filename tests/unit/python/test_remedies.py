"""Which line is given: the manager, an environment elsewhere, a Python on PATH, or pip."""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.python import remedies
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.python.remedies import addition
from tests.support.projects.disk import environment, every_manager, fix_line, lacking, lay

UV = "[tool.uv]\npackage = false\n"
PDM = "[tool.pdm]\ndistribution = false\n"
GROUP = "[dependency-groups]\ndev = ['pytest', 'pytest_xdist']\n"
BUILT = "[build-system]\nrequires = ['flit_core']\n"
PIP = ".venv/bin/python -m pip install"


def test_of_several_managers_the_one_with_a_lock_counts_and_otherwise_the_one_that_declares_pytest(
    tmp_path: Path,
) -> None:
    lay(tmp_path, {"pyproject.toml": UV + PDM + "[tool.poetry.dependencies]\npytest = '*'\n"})
    declaring = fix_line(tmp_path, [])
    lay(tmp_path, {"pdm.lock": ""})

    locking = fix_line(tmp_path, [])

    assert (declaring, locking) == ("poetry install", "pdm add -dG test pytest")


@pytest.mark.parametrize("file", ["uv.toml", "poetry.toml", ".pdm-python"])
def test_a_manager_that_needs_a_pyproject_is_none_without_it(tmp_path: Path, file: str) -> None:
    lay(tmp_path, {file: ""})

    assert fix_line(tmp_path, []).startswith("python3 -m venv .venv && ")


def test_the_operators_own_choice_is_corrected_or_gets_pytest_itself(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + GROUP})
    chosen = environment(tmp_path / "my env", settings="uv = 0.9\n")
    environment(tmp_path / "env", "pytest")

    wrong = fix_line(tmp_path, [Candidate(tmp_path / "python", "--python", "does not exist")])
    right = fix_line(tmp_path, [lacking(chosen, "--python")])

    assert wrong.startswith("correct --python, or omit it")
    assert right == "uv pip install --python 'my env/bin/python' --group dev"


def test_an_environment_with_pytest_comes_before_anything_that_installs_it(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + GROUP})
    environment(tmp_path / "env", "pytest")

    assert fix_line(tmp_path, []) == "ln -s env .venv"


def test_a_folder_outside_the_root_counts_as_the_root(tmp_path: Path) -> None:
    lay(tmp_path, {"root/Pipfile": "", "elsewhere/pdm.lock": "", "elsewhere/pyproject.toml": ""})

    assert fix_line(tmp_path / "root", [], folder=tmp_path / "elsewhere") == "pipenv install --dev pytest"


KEYS = ["tool", "uv", "workspace", "members", "poetry", "group", "extras", "pdm", "hatch", "envs", "default", "pixi"]
KEYS += ["project", "dependencies", "optional-dependencies", "dependency-groups", "dev-dependencies", "packages"]
TEXTS = st.sampled_from([*KEYS, "pytest", "pytest-cov", "test", "./packages/*", "./", "**", "["]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=5
)
VALUES = st.recursive(
    TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | TEXTS, inner, max_size=3),
    max_leaves=8,
)
TOOLS = st.dictionaries(st.sampled_from(["uv", "poetry", "pdm", "hatch", "pixi"]), VALUES, max_size=2)
TABLES = st.sampled_from(["project", "dependency-groups", "build-system"])
FILES = ["Pipfile", "Pipfile.lock", "pdm.lock", "uv.lock", "pixi.toml", "hatch.toml", "setup.cfg", "requirements.txt"]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'
    return json.dumps(value)


def document(values: Any) -> str:
    return "".join(f"{toml(key)} = {toml(value)}\n" for key, value in values.items())


TABLES_OF_FILES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=2)
OTHER_FILES = st.dictionaries(st.sampled_from(FILES), TABLES_OF_FILES, max_size=1)


@given(TOOLS, st.dictionaries(TABLES, VALUES), OTHER_FILES, st.booleans())
def test_whatever_the_files_hold_there_is_one_line(
    tools: dict[str, Any], tables: dict[str, Any], other: dict[str, Any], there: bool
) -> None:
    contents = {"pyproject.toml": {"tool": tools, **tables}, **other}
    with TemporaryDirectory() as folder:
        root = lay(Path(folder), {name: document(content) for name, content in contents.items()})
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
        command = line.replace("pipenv install --dev pytest", "cat Pipfile")
        seen = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, check=False)

    assert (seen.returncode, seen.stdout, seen.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"uv.toml": "", "pyproject.toml": ""}, "uv add --dev pytest-xdist"),
        ({"hatch.toml": ""}, f"{PIP} pytest-xdist"),
        ({}, f"{PIP} pytest-xdist"),
        ({"requirements-dev.txt": "pytest\npytest-xdist\n"}, f"{PIP} -r requirements-dev.txt"),
        ({"uv.lock": "", "pyproject.toml": GROUP}, "uv sync --inexact --group dev"),
    ],
    ids=["uv", "hatch", "pip", "declared for pip", "declared for uv"],
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


def on_path(folder: Path, *programs: str) -> str:
    """A PATH of one folder with these programs."""
    lay(folder, dict.fromkeys(programs, "#!/bin/sh\n"))
    for name in programs:
        (folder / name).chmod(0o755)
    return str(folder)


def line(root: Path, search_path: str, *rejected: Candidate) -> str:
    return remedies.remedy(root, rejected, search_path=search_path)


def test_a_python_on_path_that_has_pytest_is_named_instead_of_a_new_environment(tmp_path: Path) -> None:
    lay(tmp_path / "shop", {"requirements.txt": "pytest\n"})
    search_path = on_path(tmp_path / "usr/bin", "python3.11")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    without = line(tmp_path / "shop", search_path)
    (tmp_path / "usr/lib/python3.11/site-packages/pytest").mkdir(parents=True)

    named = line(tmp_path / "shop", search_path)

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
        f".venv/bin/python -m ensurepip && {PIP} pytest",
        "uv add --dev pytest",
    ]


@pytest.mark.parametrize(
    ("files", "new", "into_one"),
    [
        (
            {"uv.lock": "", "pyproject.toml": UV + BUILT + "[dependency-groups]\ntests = ['pytest']\n"},
            f"python3 -m venv .venv && {PIP} 'pip>=25.1' && {PIP} -e . --group tests",
            f"{PIP} 'pip>=25.1' && {PIP} --group tests",
        ),
        ({"pixi.toml": "[tasks]\n"}, "install pixi, which is not on PATH, and run: pixi add pytest", f"{PIP} pytest"),
    ],
    ids=["uv", "pixi"],
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


@pytest.mark.parametrize(
    ("backend", "expected"),
    [("uv_build", "uv add --dev pytest"), ("hatchling.build", f"python3 -m venv .venv && {PIP} -e . pytest")],
)
def test_a_build_backend_shows_that_a_new_project_uses_uv_but_many_only_build_with_hatchling(
    tmp_path: Path, backend: str, expected: str
) -> None:
    lay(tmp_path / "shop", {"pyproject.toml": f"[build-system]\nbuild-backend = '{backend}'\n"})

    assert line(tmp_path / "shop", on_path(tmp_path / "bin", "uv", "hatch")) == expected
