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

from pytest_mcp.environments.advice import remedy
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.environments.nearby import LEADING
from tests.support.disk import broken, environment, lacking, lay

UV = "[tool.uv]\npackage = false\n"
POETRY = "[tool.poetry]\npackage-mode = false\n"
PDM = "[tool.pdm]\ndistribution = false\n"
HATCH = "[tool.hatch.envs.default]\nskip-install = true\n"
PIXI = "[workspace]\nchannels = []\n"


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "uv add --dev pytest", id="nowhere"),
        pytest.param("[project]\ndependencies = ['pytest']", "uv sync", id="main"),
        pytest.param("[dependency-groups]\ndev = ['pytest']", "uv sync", id="group by default"),
        pytest.param("[dependency-groups]\ntest = ['pytest']", "uv sync --group test", id="other group"),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\ndev = [{include-group = 't'}]", "uv sync", id="included by default"
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\nqa = [{include-group = 'T'}]\n[tool.uv]\ndefault-groups = ['qa']",
            "uv sync",
            id="chosen default",
        ),
        pytest.param(
            "[dependency-groups]\ndev = ['pytest']\n[tool.uv]\ndefault-groups = []",
            "uv sync --group dev",
            id="no default",
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.uv]\ndefault-groups = 'all'", "uv sync", id="all by default"
        ),
        pytest.param("[tool.uv]\ndev-dependencies = ['pytest']", "uv sync", id="before groups"),
        pytest.param("[project.optional-dependencies]\nt = ['pytest']", "uv sync --extra t", id="extra"),
        pytest.param(
            "[dependency-groups]\ndev = ['pytest-cov']\n[project.optional-dependencies]\nt = ['pytest']",
            "uv sync --extra t",
            id="itself before a plugin",
        ),
        pytest.param("[dependency-groups]\ndev = ['pytest-cov']", "uv sync", id="a plugin brings it"),
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

    assert remedy(tmp_path, []) == line


def test_uv_keeps_what_was_installed_besides(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ntest = ['pytest']"})
    prefix = environment(tmp_path / ".venv", "six")

    assert remedy(tmp_path, [lacking(prefix)]) == "uv sync --inexact --group test"


def test_uv_replaces_a_broken_environment_but_a_folder_that_is_none_makes_room(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    prefix = environment(tmp_path / ".venv")
    replaced = remedy(tmp_path, [broken(prefix)])
    (prefix / "pyvenv.cfg").unlink()

    moved = remedy(tmp_path, [broken(prefix)])

    assert (replaced, moved) == ("uv sync", "mv .venv .venv-broken && uv sync")


WORKSPACE = {
    "mono/pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n",
    "mono/packages/a/pyproject.toml": "[dependency-groups]\nunit = ['pytest']\n",
    "mono/packages/b/pyproject.toml": "[tool.uv]\npackage = false\n",
    "mono/packages/old/pyproject.toml": "[tool.uv]\npackage = false\n",
}
ABOVE = 'UV_PROJECT_ENVIRONMENT="$PWD"/.venv'


@pytest.mark.parametrize(
    ("root", "folder", "line"),
    [
        pytest.param("mono", "", "uv sync --all-packages --group unit", id="whole"),
        pytest.param("mono", "packages/a/tests", "uv sync --all-packages --group unit", id="member"),
        pytest.param("mono", "packages/b", "uv sync --all-packages --group unit", id="member without"),
        pytest.param("mono", "packages/old", "uv add --project packages/old --dev pytest", id="no member"),
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

    assert remedy(tmp_path / root, [], folder=tmp_path / root / folder) == line


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "poetry add --group dev pytest", id="nowhere"),
        pytest.param("[tool.poetry.dependencies]\npytest = '*'", "poetry install", id="main"),
        pytest.param("[tool.poetry.dev-dependencies]\npytest = '*'", "poetry install", id="before groups"),
        pytest.param("[tool.poetry.group.t.dependencies]\nPyTest = '*'", "poetry install", id="group"),
        pytest.param(
            "[tool.poetry.group.t]\noptional = true\n[tool.poetry.group.t.dependencies]\npytest = '*'",
            "poetry install --with t",
            id="optional group",
        ),
        pytest.param("[dependency-groups]\nt = ['pytest']", "poetry install", id="standard group"),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.poetry.group.t]\noptional = true",
            "poetry install --with t",
            id="optional standard group",
        ),
        pytest.param(
            "[dependency-groups]\nt = ['pytest']\n[tool.poetry.group]\nt.optional = true\nqa.include-groups = ['t']",
            "poetry install",
            id="included group",
        ),
        pytest.param(
            "[project.optional-dependencies]\nt = ['pytest']", "poetry install --extras t", id="standard extra"
        ),
        pytest.param(
            "[tool.poetry.dependencies]\npytest = {version = '*', optional = true}\n[tool.poetry.extras]\nt=['pytest']",
            "poetry install --extras t",
            id="extra",
        ),
    ],
)
def test_poetry_installs_what_is_declared_or_adds_it(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": declared, "poetry.toml": ""})

    assert remedy(tmp_path, []) == line


def test_poetry_locks_again_what_the_lock_does_not_know(tmp_path: Path) -> None:
    declared = {"sub/pyproject.toml": POETRY + "[dependency-groups]\ndev = ['pytest']"}
    lay(tmp_path, {**declared, "sub/poetry.lock": "[metadata]\nlock-version = '2.1'\n"})
    stale = remedy(tmp_path, [], folder=tmp_path / "sub")
    lay(tmp_path, {"sub/poetry.lock": '[[package]]\nname = "pytest"\n'})

    fresh = remedy(tmp_path, [], folder=tmp_path / "sub")

    assert stale == "poetry -C sub lock && poetry -C sub install"
    assert fresh == "poetry -C sub install"


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "pdm add -dG test pytest", id="nowhere"),
        pytest.param("[project]\ndependencies = ['pytest']", "pdm install", id="main"),
        pytest.param("[dependency-groups]\nt = ['pytest']", "pdm install", id="group"),
        pytest.param("[tool.pdm.dev-dependencies]\nt = ['pytest']", "pdm install", id="own group"),
        pytest.param("[project.optional-dependencies]\nt = ['pytest']", "pdm install -G t", id="extra"),
    ],
)
def test_pdm_installs_what_is_declared_or_adds_it(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": declared, ".pdm-python": ""})

    assert remedy(tmp_path, []) == line


def test_pdm_locks_again_what_it_did_not_lock(tmp_path: Path) -> None:
    declared = PDM + "[project.optional-dependencies]\nt = ['pytest']"
    lay(tmp_path, {"pyproject.toml": declared, "pdm.lock": "[metadata]\ngroups = ['default', 's']\n"})
    unlocked = remedy(tmp_path, [])
    lay(tmp_path, {"pdm.lock": "[metadata]\ngroups = ['default', 't']\n"})

    locked = remedy(tmp_path, [])

    assert (unlocked, locked) == ("pdm lock -G :all && pdm install -G t", "pdm install -G t")


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "hatch test -- --version", id="nowhere"),
        pytest.param("dependencies = ['pytest']", "hatch run python -m pytest --version", id="default"),
        pytest.param(
            "[tool.hatch.envs.t]\nextra-dependencies = ['pytest']",
            "hatch run t:python -m pytest --version",
            id="environment",
        ),
        pytest.param(
            "[tool.hatch.envs.t]\nfeatures = ['x']\n[project.optional-dependencies]\nx = ['pytest']",
            "hatch run t:python -m pytest --version",
            id="feature",
        ),
        pytest.param(
            "[tool.hatch.envs.t]\ndependency-groups = ['x']\n[dependency-groups]\nx = ['pytest']",
            "hatch run t:python -m pytest --version",
            id="group",
        ),
        pytest.param(
            "[tool.hatch.envs.hatch-test]\nextra-dependencies = ['pytest-cov']", "hatch test -- --version", id="its own"
        ),
        pytest.param("[dependency-groups]\nx = ['pytest']", "hatch test -- --version", id="group of no environment"),
    ],
)
def test_hatch_brings_the_environment_that_declares_pytest_up_to_date(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": HATCH + declared})

    assert remedy(tmp_path, []) == line


@pytest.mark.parametrize(
    ("pipfile", "lock", "line"),
    [
        pytest.param("", None, "pipenv install --dev pytest", id="nowhere"),
        pytest.param("[packages]\npytest = '*'", None, "pipenv install", id="main"),
        pytest.param("[dev-packages]\npytest = '*'", None, "pipenv install --dev", id="development"),
        pytest.param("[dev-packages]\npytest = '*'", {"develop": {"pytest": {}}}, "pipenv sync --dev", id="locked"),
        pytest.param("[dev-packages]\npytest = '*'", {"default": {"pytest": {}}}, "pipenv install --dev", id="stale"),
        pytest.param("[dev-packages]\npytest = '*'", ["odd"], "pipenv install --dev", id="odd lock"),
    ],
)
def test_pipenv_follows_its_lock_if_that_knows_pytest(tmp_path: Path, pipfile: str, lock: Any, line: str) -> None:
    lay(tmp_path, {"Pipfile": pipfile})
    if lock is not None:
        lay(tmp_path, {"Pipfile.lock": json.dumps(lock)})

    assert remedy(tmp_path, []) == line


def test_pipenv_gets_room_for_an_environment_in_place_of_a_broken_one(tmp_path: Path) -> None:
    lay(tmp_path, {"Pipfile": ""})
    prefix = environment(tmp_path / ".venv")
    working = remedy(tmp_path, [lacking(prefix)])
    (prefix / "bin/python").unlink()

    again = remedy(tmp_path, [broken(prefix)])

    assert working == "pipenv install --dev pytest"
    assert again == "mv .venv .venv-broken && PIPENV_VENV_IN_PROJECT=1 pipenv install --dev pytest"


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "pixi add pytest", id="nowhere"),
        pytest.param("[dependencies]\npytest = '*'", "pixi install", id="main"),
        pytest.param("[pypi-dependencies]\npytest = '*'", "pixi install", id="of the index"),
        pytest.param("[target.linux-64.dependencies]\npytest = '*'", "pixi install", id="of a platform"),
        pytest.param("[feature.t.dependencies]\npytest = '*'", "pixi add pytest", id="feature of no environment"),
        pytest.param(
            "[feature.t.dependencies]\npytest = '*'\n[environments]\nci = ['t']",
            "pixi install --environment ci",
            id="feature",
        ),
        pytest.param(
            "[feature.t.pypi-dependencies]\npytest = '*'\n[environments]\ndefault = {features = ['t']}",
            "pixi install",
            id="feature of the default",
        ),
    ],
)
def test_pixi_installs_the_environment_that_declares_pytest(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pixi.toml": PIXI + declared})

    assert remedy(tmp_path, []) == line


def test_groups_and_extras_of_a_pyproject_are_features_of_pixi(tmp_path: Path) -> None:
    environments = "[tool.pixi.environments]\nci = {features = ['g']}\n"
    lay(tmp_path, {"pyproject.toml": environments + "[dependency-groups]\ng = ['pytest']"})

    assert remedy(tmp_path, []) == "pixi install --environment ci"


@pytest.mark.parametrize(
    ("content", "made", "updated"),
    [
        pytest.param(
            "dependencies:\n  - python\n  - conda-forge::pytest>=8\n",
            "conda env create --prefix .venv --file environment.yml",
            "conda env update --prefix {prefix} --file environment.yml",
            id="conda's",
        ),
        pytest.param(
            "dependencies:\n  - pip\n  - pip:\n    - 'pytest>=8'\n",
            "conda env create --prefix .venv --file environment.yml",
            "conda env update --prefix {prefix} --file environment.yml",
            id="pip's",
        ),
        pytest.param(
            "name: pytest\ndependencies:\n  - python\n",
            "conda env create --prefix .venv --file environment.yml && conda install --yes --prefix .venv pytest",
            "conda install --yes --prefix {prefix} pytest",
            id="nowhere",
        ),
    ],
)
def test_conda_makes_an_environment_where_it_is_found_or_brings_the_active_one_up_to_date(
    tmp_path: Path, content: str, made: str, updated: str
) -> None:
    root = lay(tmp_path / "project", {"environment.yml": content})
    prefix = environment(tmp_path / "active")
    (prefix / "conda-meta").mkdir()

    assert remedy(root, []) == made
    assert remedy(root, [lacking(prefix, "CONDA_PREFIX")]) == updated.format(prefix=prefix)


def test_a_list_for_conda_does_not_count_where_another_environment_lacks_only_pytest(tmp_path: Path) -> None:
    lay(tmp_path, {"environment.yml": "dependencies:\n  - pytest\n"})
    prefix = environment(tmp_path / ".venv", "pip")

    assert remedy(tmp_path, [lacking(prefix)]) == ".venv/bin/python -m pip install pytest"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"uv.toml": "", "pyproject.toml": ""}, "uv add --project 'a b' --dev pytest"),
        ({"poetry.toml": "", "pyproject.toml": ""}, "poetry -C 'a b' add --group dev pytest"),
        ({"pyproject.toml": PDM}, "pdm add -p 'a b' -dG test pytest"),
        ({"hatch.toml": ""}, "cd 'a b' && hatch test -- --version"),
        ({"Pipfile": ""}, "PIPENV_PIPFILE='a b/Pipfile' pipenv install --dev pytest"),
        ({"pixi.toml": ""}, "pixi add --manifest-path 'a b/pixi.toml' pytest"),
        ({"pyproject.toml": "[tool.pixi.workspace]\na = 1"}, "pixi add --manifest-path 'a b/pyproject.toml' pytest"),
        (
            {"environment.yml": "- pytest"},
            "conda env create --prefix .venv --file 'a b/environment.yml'",
        ),
    ],
    ids=["uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "pixi in pyproject", "conda"],
)
def test_a_manager_of_another_folder_is_pointed_at_it(tmp_path: Path, files: dict[str, str], line: str) -> None:
    lay(tmp_path / "a b", files)

    assert remedy(tmp_path, [], folder=tmp_path / "a b") == line


def test_of_several_managers_the_one_with_a_lock_counts_and_otherwise_the_one_that_declares_pytest(
    tmp_path: Path,
) -> None:
    lay(tmp_path, {"pyproject.toml": UV + PDM + HATCH + "dependencies = ['pytest']"})
    declaring = remedy(tmp_path, [])
    lay(tmp_path, {"pdm.lock": ""})

    locking = remedy(tmp_path, [])

    assert (declaring, locking) == ("hatch run python -m pytest --version", "pdm add -dG test pytest")


@pytest.mark.parametrize("file", ["uv.toml", "poetry.toml", ".pdm-python"])
def test_a_manager_that_needs_a_pyproject_is_none_without_it(tmp_path: Path, file: str) -> None:
    lay(tmp_path, {file: ""})

    assert remedy(tmp_path, []).startswith("python3 -m venv .venv && ")


def test_the_operators_own_choice_is_corrected_or_gets_pytest_itself(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    chosen = environment(tmp_path / "my env", settings="uv = 0.9\n")
    environment(tmp_path / "env", "pytest")

    wrong = remedy(tmp_path, [Candidate(tmp_path / "python", "--python", "does not exist")])
    right = remedy(tmp_path, [lacking(chosen, "--python")])

    assert wrong.startswith("correct --python, or leave it out")
    assert right == "uv pip install --python 'my env/bin/python' --group dev"


def test_an_environment_with_pytest_comes_before_anything_that_installs_it(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + "[dependency-groups]\ndev = ['pytest']"})
    environment(tmp_path / "env", "pytest")

    assert remedy(tmp_path, []) == "ln -s env .venv"


def test_a_folder_outside_the_root_counts_as_the_root(tmp_path: Path) -> None:
    lay(tmp_path, {"root/Pipfile": "", "elsewhere/pdm.lock": "", "elsewhere/pyproject.toml": ""})

    assert remedy(tmp_path / "root", [], folder=tmp_path / "elsewhere") == "pipenv install --dev pytest"


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

        line = remedy(root, rejected, folder=root / "a" / "b")

    assert line.isprintable()
    assert line


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell to ask")
@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_shell_takes_the_line_whatever_the_folder_is_called(name: str) -> None:
    if name in (".", ".."):
        return
    with TemporaryDirectory() as folder:
        root = lay(Path(folder).resolve(), {f"{name}/Pipfile": ""})

        line = remedy(root, [], folder=root / name)
        if not name.isprintable():
            assert line.startswith(LEADING)
            return
        seen = subprocess.run(
            ["sh", "-c", line.replace("pipenv install --dev pytest", "sh -c 'cat \"$PIPENV_PIPFILE\"'")],
            cwd=root,
            capture_output=True,
            check=False,
        )

    assert (seen.returncode, seen.stdout, seen.stderr) == (0, b"", b"")


def test_a_manager_comes_before_the_environments_of_tox_and_those_before_a_new_one(tmp_path: Path) -> None:
    environment(tmp_path / ".tox/py312", "pytest")

    unmanaged = remedy(tmp_path, [])
    lay(tmp_path, {"uv.lock": "", "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n'})

    assert unmanaged == f"start pytest-mcp with --python {tmp_path}/.tox/py312/bin/python"
    assert remedy(tmp_path, []) == "uv sync --group test"
