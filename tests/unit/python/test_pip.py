"""What pip is told where nobody manages a project.

Lines of each kind have been run in real projects, but for those of conda, which follow its documentation.
"""

import subprocess
import venv
from pathlib import Path

import pytest

from pytest_mcp.python import install_lines as lines
from pytest_mcp.python import virtualenv
from scripts.environments import ENVIRONMENTS
from tests.support.projects.disk import broken, environment, fix_line, lacking, lay

ENSUREPIP = ".venv/bin/python -m ensurepip"
BUILT = "[build-system]\nrequires = ['setuptools']\n"
TEST_EXTRA = "[project.optional-dependencies]\ntest = ['pytest']\n"
TEST_GROUP = "[dependency-groups]\ntest = ['pytest']\n"


@pytest.mark.parametrize(
    ("files", "there", "new"),
    [
        pytest.param({}, "pytest", "pytest", id="nowhere"),
        pytest.param({"requirements.txt": "six\n"}, "pytest", "-r requirements.txt pytest", id="only a list without"),
        pytest.param({"requirements.txt": "pytest\n"}, "-r requirements.txt", "-r requirements.txt", id="only list"),
        pytest.param(
            {"requirements.txt": "pytest-cov\n", "dev-requirements.txt": "pytest==8\n"},
            "-r dev-requirements.txt",
            "-r requirements.txt -r dev-requirements.txt",
            id="itself before a plugin",
        ),
        pytest.param(
            {"requirements-dev.txt": "pytest\n", "requirements/test.txt": "pytest\n"},
            "-r requirements/test.txt",
            "-r requirements/test.txt",
            id="named after tests",
        ),
        pytest.param({"pyproject.toml": BUILT}, "pytest", "-e . pytest", id="built"),
        pytest.param({"setup.py": ""}, "pytest", "-e . pytest", id="built as before"),
        pytest.param({"pyproject.toml": TEST_EXTRA}, "-e '.[test]'", "-e '.[test]'", id="extra"),
        pytest.param({"pyproject.toml": "[project]\ndependencies = ['pytest']"}, "-e .", "-e .", id="main"),
        pytest.param(
            {"pyproject.toml": BUILT + TEST_GROUP + TEST_EXTRA, "requirements-dev.txt": "pytest"},
            "-r requirements-dev.txt",
            "-e . -r requirements-dev.txt",
            id="list before extra",
        ),
        pytest.param(
            {"pyproject.toml": BUILT + TEST_GROUP + TEST_EXTRA}, "-e '.[test]'", "-e '.[test]'", id="extra before group"
        ),
        pytest.param({"pyproject.toml": BUILT + TEST_GROUP}, "--group test", "-e . --group test", id="group"),
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

    newer = ".venv/bin/python -m pip install 'pip>=25.1' && " if "--group" in new else ""
    assert made == f"python3 -m venv .venv && {newer}.venv/bin/python -m pip install {new}"
    assert filled == f"{newer}.venv/bin/python -m pip install {there}"


@pytest.mark.parametrize(
    ("packages", "settings", "expected"),
    [
        pytest.param(["pip"], "", "{0} install 'pip>=25.1' && {0} install --group test", id="with pip"),
        pytest.param([], "uv = 0.9\n", "uv pip install --python .venv/bin/python --group test", id="made by uv"),
        pytest.param(
            ["pip"],
            "uv = 0.9\n",
            "{0} install 'pip>=25.1' && {0} install --group test",
            id="made by uv, seeded",
        ),
        pytest.param(
            [],
            "version = 3.11.7\n",
            ".venv/bin/python -m ensurepip && {0} install 'pip>=25.1' && {0} install --group test",
            id="without pip",
        ),
        pytest.param(
            [],
            "Include-System-Site-Packages = True\n",
            "{0} install 'pip>=25.1' && {0} install --group test",
            id="pip elsewhere",
        ),
    ],
)
def test_pip_is_used_as_it_is_there(tmp_path: Path, packages: list[str], settings: str, expected: str) -> None:
    lay(tmp_path, {"pyproject.toml": TEST_GROUP})
    prefix = environment(tmp_path / ".venv", *packages, settings=settings)

    assert fix_line(tmp_path, [lacking(prefix)]) == expected.format(".venv/bin/python -m pip")


def test_an_environment_of_conda_gets_pytest_from_conda_unless_more_is_declared(tmp_path: Path) -> None:
    root = lay(tmp_path / "root", {})
    root.mkdir()
    prefix = environment(tmp_path / "my conda", "pip")
    (prefix / "conda-meta").mkdir()
    bare = fix_line(root, [lacking(prefix, "CONDA_PREFIX")])
    lay(root, {"requirements-dev.txt": "pytest"})

    declared = fix_line(root, [lacking(prefix, "CONDA_PREFIX")])

    assert bare == f"conda install --yes --prefix '{prefix}' pytest"
    assert declared == f"'{prefix}/bin/python' -m pip install -r requirements-dev.txt"


@pytest.mark.parametrize(
    ("content", "options"),
    [(TEST_EXTRA, "-e './a b[test]'"), (TEST_GROUP, "--group './a b/pyproject.toml:test'")],
    ids=["extra", "group"],
)
def test_what_the_nearest_folder_declares_counts(tmp_path: Path, content: str, options: str) -> None:
    lay(tmp_path, {"a b/pyproject.toml": content, "requirements-dev.txt": "pytest"})
    (tmp_path / "a b" / "tests").mkdir()
    (tmp_path / "c").mkdir()
    prefix = environment(tmp_path / ".venv", "pip", "pip-26.0.dist-info")

    near = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "a b" / "tests")
    far = fix_line(tmp_path, [lacking(prefix)], folder=tmp_path / "c")

    assert near.endswith(f".venv/bin/python -m pip install {options}")
    assert far == ".venv/bin/python -m pip install -r requirements-dev.txt"


def test_an_environment_under_another_name_is_used_rather_than_a_new_one_made(tmp_path: Path) -> None:
    environment(tmp_path / "env", "pip")

    assert fix_line(tmp_path, []) == "ln -s env .venv && env/bin/python -m pip install pytest"


def test_a_broken_environment_is_kept_under_a_free_name_and_a_new_one_works(tmp_path: Path) -> None:
    """Run for real, up to where pip would be needed."""
    prefix = environment(tmp_path / ".venv", "precious")
    (prefix / "bin/python").unlink()
    (prefix / "bin/python").symlink_to(tmp_path / "gone")
    (tmp_path / ".venv-broken").mkdir()

    repairing, _, installing = fix_line(tmp_path, [broken(prefix)]).rpartition(" && ")
    subprocess.run(["sh", "-c", f"{repairing} --without-pip"], cwd=tmp_path, check=True)
    started = subprocess.run([prefix / "bin/python", "-c", ""], check=False)

    assert started.returncode == 0
    assert installing == ".venv/bin/python -m pip install pytest"
    assert (tmp_path / ".venv-broken-2/lib/python3.11/site-packages/precious").is_dir()


@pytest.mark.parametrize(
    "line", ["", "# pytest", "-r pytest.txt", "--hash=pytest", "-e .", "./pytest", "git+https://x/pytest", "é"]
)
def test_a_line_that_names_no_package_does_not_name_pytest(tmp_path: Path, line: str) -> None:
    lay(tmp_path, {"requirements.txt": f"{line}\n"})

    assert "pytest" not in lines.required_packages(tmp_path / "requirements.txt")


def test_a_real_environment_shows_its_python_and_its_pip(tmp_path: Path) -> None:
    with_pip = virtualenv.of(ENVIRONMENTS["no-pytest"].python)
    venv.create(tmp_path / "without")

    seen = [
        (virtualenv.is_environment(prefix), virtualenv.starts(prefix), lines.lacks_pip(prefix))
        for prefix in (with_pip, tmp_path / "without", tmp_path / "nothing")
    ]

    assert seen == [(True, True, False), (True, True, True), (False, False, False)]
    assert not virtualenv.has(with_pip, "pytest")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("uv = 0.9\nversion_info = 3.11\n", "uv pip install --python .venv/bin/python pytest"),
        ("virtualenv = 20\ncommand = uv\n", f"{ENSUREPIP} && .venv/bin/python -m pip install pytest"),
        ("include-system-site-packages = true\n", ".venv/bin/python -m pip install pytest"),
        ("\n=\nno pair\n", f"{ENSUREPIP} && .venv/bin/python -m pip install pytest"),
    ],
)
def test_the_settings_tell_what_made_it_and_whether_it_sees_other_packages(
    tmp_path: Path, settings: str, line: str
) -> None:
    prefix = environment(tmp_path / ".venv", settings=settings)

    assert fix_line(tmp_path, [lacking(prefix)]) == line
