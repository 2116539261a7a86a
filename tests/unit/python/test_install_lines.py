"""Files in, line out: what each manager is told.

Lines of each kind for uv, poetry, pdm, hatch, pipenv and pip have been run in real projects, where pytest could then
be imported. Those for pixi and conda follow their documentation.
"""

import subprocess
from pathlib import Path

import pytest

from tests.support.projects.disk import broken, environment, fix_line, lacking, lay

UV = "[tool.uv]\npackage = false\n"
POETRY = "[tool.poetry]\npackage-mode = false\n"
PDM = "[tool.pdm]\ndistribution = false\n"
BUILT = "[build-system]\nrequires = ['setuptools']\n"
TEST_EXTRA = "[project.optional-dependencies]\ntest = ['pytest']\n"
TEST_GROUP = "[dependency-groups]\ntest = ['pytest']\n"
PIP = ".venv/bin/python -m pip install"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"uv.toml": "", "pyproject.toml": ""}, "uv add --project 'a b' --dev pytest"),
        ({"poetry.toml": "", "pyproject.toml": ""}, "poetry -C 'a b' add --group dev pytest"),
        ({"pyproject.toml": PDM}, "cd 'a b' && pdm add -dG test pytest"),
        ({"hatch.toml": ""}, "cd 'a b' && hatch test -- --version"),
        ({"Pipfile": ""}, "cd 'a b' && pipenv install --dev pytest"),
        ({"pixi.toml": ""}, "cd 'a b' && pixi add pytest"),
        ({"environment.yml": "- pytest"}, "conda env create --prefix .venv --file 'a b/environment.yml'"),
    ],
    ids=["uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "conda"],
)
def test_a_manager_of_another_folder_is_pointed_at_it(tmp_path: Path, files: dict[str, str], line: str) -> None:
    lay(tmp_path / "a b", files)

    assert fix_line(tmp_path, [], folder=tmp_path / "a b") == line


MAIN = "[project]\ndependencies = ['pytest']\n"
PLUGIN = "[dependency-groups]\ndev = ['pytest-cov']\n"
OPTIONAL = "[tool.poetry.dependencies]\npytest = {version = '*', optional = true}\n[tool.poetry.extras]\nt=['pytest']\n"


@pytest.mark.parametrize(
    ("sign", "declared", "line"),
    [
        ("pdm.lock", MAIN, "pdm install"),
        ("pdm.lock", TEST_GROUP, "pdm install"),
        ("pdm.lock", TEST_EXTRA, "pdm add -dG test pytest"),
        ("uv.lock", "", "uv add --dev pytest"),
        ("uv.lock", MAIN, "uv sync"),
        ("uv.lock", TEST_GROUP, "uv sync --group test"),
        ("uv.lock", TEST_EXTRA, "uv sync --extra test"),
        # pytest itself comes before a plugin, which brings it too.
        ("uv.lock", PLUGIN + TEST_EXTRA, "uv sync --extra test"),
        ("uv.lock", PLUGIN, "uv sync --group dev"),
        ("uv.lock", "[dependency-groups]\ndev = ['pytest-runner']", "uv add --dev pytest"),
        ("uv.lock", "[dependency-groups]\ntyping = ['pytest']\nall-tests = ['pytest']", "uv sync --group all-tests"),
        ("uv.lock", "[dependency-groups]\n'a b' = ['pytest']", "uv add --dev pytest"),
        ("poetry.toml", "", "poetry add --group dev pytest"),
        ("poetry.toml", "[tool.poetry.dependencies]\npytest = '*'", "poetry install"),
        ("poetry.toml", "[tool.poetry.dev-dependencies]\npytest = '*'", "poetry install --with dev"),
        ("poetry.toml", "[tool.poetry.group.t.dependencies]\nPyTest = '*'", "poetry install --with t"),
        ("poetry.toml", TEST_GROUP, "poetry install --with test"),
        ("poetry.toml", TEST_EXTRA, "poetry install --extras test"),
        ("poetry.toml", OPTIONAL, "poetry install --extras t"),
    ],
)
def test_a_manager_installs_what_is_declared_or_adds_it(tmp_path: Path, sign: str, declared: str, line: str) -> None:
    lay(tmp_path, {sign: "", "pyproject.toml": declared})

    assert fix_line(tmp_path, []) == line


def test_a_manager_with_one_row_gets_a_broken_environment_out_of_its_way(tmp_path: Path) -> None:
    lay(tmp_path, {"a/Pipfile": ""})
    prefix = environment(tmp_path / "a/.venv")
    working = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "a")
    (prefix / "bin/python").unlink()

    again = fix_line(tmp_path, [broken(prefix)], folder=tmp_path / "a")

    assert working == "cd a && pipenv install --dev pytest"
    assert again == "mv a/.venv a/.venv-broken && cd a && pipenv install --dev pytest"


# uv


def test_uv_keeps_what_was_installed_besides_and_makes_room_where_a_folder_is_no_environment(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": UV + TEST_GROUP})
    prefix = environment(tmp_path / ".venv", "six")
    kept, replaced = (fix_line(tmp_path, [candidate]) for candidate in (lacking(prefix), broken(prefix)))
    (prefix / "pyvenv.cfg").unlink()

    moved = fix_line(tmp_path, [broken(prefix)])

    assert (kept, replaced) == ("uv sync --inexact --group test", "uv sync --group test")
    assert moved == "mv .venv .venv-broken && uv sync --group test"


WORKSPACE = {
    # Above the workspace, so it does not count there.
    "pyproject.toml": "[dependency-groups]\noutside = ['pytest']\n",
    "mono/pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n",
    "mono/packages/a/pyproject.toml": "[dependency-groups]\nunit = ['pytest']\n",
    "mono/packages/b/pyproject.toml": UV,
    "mono/packages/old/pyproject.toml": UV,
}
ABOVE = "env UV_PROJECT_ENVIRONMENT={root}/.venv"
# For a group of any member, and for a workspace that declares pytest nowhere.
ANYWHERE = "--all-groups && uv pip install --python"


@pytest.mark.parametrize(
    ("root", "folder", "line"),
    [
        pytest.param("mono", "", f"uv sync --all-packages {ANYWHERE} .venv pytest", id="whole"),
        pytest.param("mono", "packages/a/tests", "uv sync --all-packages --group unit", id="member"),
        pytest.param("mono", "packages/b", f"uv sync --all-packages {ANYWHERE} .venv pytest", id="member without"),
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

    advised = fix_line(tmp_path / root, [], folder=tmp_path / root / folder)

    assert advised == line.format(root=tmp_path / root)


# poetry


def test_poetry_locks_again_what_the_lock_does_not_know(tmp_path: Path) -> None:
    lay(tmp_path, {"sub/pyproject.toml": POETRY + TEST_GROUP, "sub/poetry.lock": "[metadata]\nlock-version = '2.1'\n"})
    stale = fix_line(tmp_path, [], folder=tmp_path / "sub")
    lay(tmp_path, {"sub/poetry.lock": '[[package]]\nname = "pytest"\n'})

    fresh = fix_line(tmp_path, [], folder=tmp_path / "sub")

    assert stale == "poetry -C sub lock && poetry -C sub install --with test"
    assert fresh == "poetry -C sub install --with test"


# conda


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ('dependencies:\n  - python\n  - "conda-forge::pytest>=8"\n', ""),
        ("name: pytest\ndependencies:\n  - python\n", " && conda install --yes --prefix .venv pytest"),
    ],
    ids=["declared", "nowhere"],
)
def test_conda_makes_an_environment_where_it_is_found_or_adds_to_the_active_one(
    tmp_path: Path, content: str, more: str
) -> None:
    root = lay(tmp_path / "project", {"environment.yml": content})
    prefix = environment(tmp_path / "active")
    (prefix / "conda-meta").mkdir()

    assert fix_line(root, []) == f"conda env create --prefix .venv --file environment.yml{more}"
    assert fix_line(root, [lacking(prefix, "CONDA_PREFIX")]) == f"conda install --yes --prefix {prefix} pytest"


def test_a_list_for_conda_does_not_count_where_another_environment_lacks_only_pytest(tmp_path: Path) -> None:
    lay(tmp_path, {"environment.yml": "dependencies:\n  - pytest\n"})
    prefix = environment(tmp_path / ".venv", "pip")

    assert fix_line(tmp_path, [lacking(prefix)]) == f"{PIP} pytest"


def test_an_environment_of_conda_gets_pytest_from_conda_unless_more_is_declared(tmp_path: Path) -> None:
    (root := tmp_path / "root").mkdir()
    prefix = environment(tmp_path / "my conda", "pip")
    (prefix / "conda-meta").mkdir()
    bare = fix_line(root, [lacking(prefix, "CONDA_PREFIX")])
    lay(root, {"requirements-dev.txt": "pytest"})

    declared = fix_line(root, [lacking(prefix, "CONDA_PREFIX")])

    assert bare == f"conda install --yes --prefix '{prefix}' pytest"
    assert declared == f"'{prefix}/bin/python' -m pip install -r requirements-dev.txt"


# pip


DEV = "requirements-dev.txt"
BOTH = BUILT + TEST_GROUP + TEST_EXTRA


@pytest.mark.parametrize(
    ("files", "there", "new"),
    [
        ({}, "pytest", "pytest"),
        ({"requirements.txt": "six\n"}, "pytest", "-r requirements.txt pytest"),
        ({"requirements.txt": "pytest\n"}, "-r requirements.txt", "-r requirements.txt"),
        ({"requirements.txt": "pytest-cov\n", DEV: "pytest==8\n"}, f"-r {DEV}", f"-r requirements.txt -r {DEV}"),
        ({DEV: "pytest\n", "requirements/test.txt": "pytest\n"}, *["-r requirements/test.txt"] * 2),
        ({"pyproject.toml": BUILT}, "pytest", "-e . pytest"),
        ({"pyproject.toml": TEST_EXTRA}, "-e '.[test]'", "-e '.[test]'"),
        ({"pyproject.toml": MAIN}, "-e .", "-e ."),
        ({"pyproject.toml": BOTH, DEV: "pytest"}, f"-r {DEV}", f"-e . -r {DEV}"),
        ({"pyproject.toml": BOTH}, "-e '.[test]'", "-e '.[test]'"),
        ({"pyproject.toml": BUILT + TEST_GROUP}, "--group test", "-e . --group test"),
    ],
)
def test_an_environment_gets_what_is_declared_and_a_new_one_the_project_too(
    tmp_path: Path, files: dict[str, str], there: str, new: str
) -> None:
    root = lay(tmp_path / "root", files)
    root.mkdir(exist_ok=True)
    made = fix_line(root, [])
    prefix = environment(root / ".venv", "pip", "pip-25.1.dist-info")

    filled = fix_line(root, [lacking(prefix)])

    newer = f"{PIP} 'pip>=25.1' && " if "--group" in new else ""
    assert made == f"python3 -m venv .venv && {newer}{PIP} {new}"
    assert filled == f"{newer}{PIP} {there}"


@pytest.mark.parametrize(
    ("packages", "settings", "line"),
    [
        pytest.param(["pip"], "", f"{PIP} pytest", id="with pip"),
        pytest.param([], "uv = 0.9\n", "uv pip install --python .venv/bin/python pytest", id="made by uv"),
        pytest.param(["pip"], "uv = 0.9\n", f"{PIP} pytest", id="made by uv, seeded"),
        pytest.param([], "command = uv\n", f".venv/bin/python -m ensurepip && {PIP} pytest", id="without pip"),
        pytest.param([], "Include-System-Site-Packages = True\n", f"{PIP} pytest", id="pip elsewhere"),
    ],
)
def test_pip_is_used_as_it_is_there(tmp_path: Path, packages: list[str], settings: str, line: str) -> None:
    prefix = environment(tmp_path / ".venv", *packages, settings=settings)

    assert fix_line(tmp_path, [lacking(prefix)]) == line


@pytest.mark.parametrize(
    ("content", "options"),
    [(TEST_EXTRA, "-e './a b[test]'"), (TEST_GROUP, "--group './a b/pyproject.toml:test'")],
    ids=["extra", "group"],
)
def test_what_the_nearest_folder_declares_counts(tmp_path: Path, content: str, options: str) -> None:
    lay(tmp_path, {"a b/pyproject.toml": content, "requirements-dev.txt": "pytest", "a b/tests/x": "", "c/x": ""})
    prefix = environment(tmp_path / ".venv", "pip", "pip-26.0.dist-info")

    near = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "a b" / "tests")
    far = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "c")

    assert near.endswith(f"{PIP} {options}")
    assert far == f"{PIP} -r requirements-dev.txt"


def test_a_broken_environment_is_kept_under_a_free_name_and_a_new_one_works(tmp_path: Path) -> None:
    """Run for real, up to where pip would be needed."""
    prefix = environment(tmp_path / ".venv", "precious")
    (prefix / "bin/python").unlink()
    (prefix / "bin/python").symlink_to(tmp_path / "gone")
    (tmp_path / ".venv-broken").symlink_to("nowhere")

    repairing, _, installing = fix_line(tmp_path, [broken(prefix)]).rpartition(" && ")
    subprocess.run(["sh", "-c", f"{repairing} --without-pip"], cwd=tmp_path, check=True)
    started = subprocess.run([prefix / "bin/python", "-c", ""], check=False)

    assert started.returncode == 0
    assert installing == f"{PIP} pytest"
    assert (tmp_path / ".venv-broken1/lib/python3.11/site-packages/precious").is_dir()


@pytest.mark.parametrize(
    "line", ["", "# pytest", "-r pytest.txt", "--hash=pytest", "-e .", "./pytest", "git+https://x/pytest", "é"]
)
def test_a_line_that_names_no_package_does_not_name_pytest(tmp_path: Path, line: str) -> None:
    lay(tmp_path, {"requirements-dev.txt": f"{line}\n"})
    prefix = environment(tmp_path / ".venv", "pip")

    assert fix_line(tmp_path, [lacking(prefix)]) == f"{PIP} pytest"
