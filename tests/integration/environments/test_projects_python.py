"""The whole way: a real tool makes the environment, and the server runs the tests in it without being told of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.environments import ENVIRONMENTS
from tests.support.projects.disk import unhelped
from tests.support.projects.managed import BASE_PYTHON, Home, Tool
from tests.support.workbench import Failure, Workbench, call, succeeded

PYPROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'
# Passes only in the environment that it was told of.
TEST = "import sys\n\ndef test_prefix():\n    assert sys.prefix == {prefix!r}\n"


def give_pytest(prefix: Path) -> None:
    """As if it had been installed there, by links to what another environment has."""
    (packages,) = prefix.glob("lib/python*/site-packages")
    (of_demo,) = ENVIRONMENTS["demo"].python.parent.parent.glob("lib/python*/site-packages")
    for package in of_demo.iterdir():
        if package.name != "__pycache__" and not (packages / package.name).exists():
            (packages / package.name).symlink_to(package)


def made_by_poetry(home: Home, root: Path) -> Path:
    (root / "pyproject.toml").write_text(f"{PYPROJECT}[tool.poetry]\npackage-mode = false\n", encoding="utf-8")
    said = home.run("poetry", "--no-ansi", "--no-interaction", "env", "use", BASE_PYTHON, cwd=root)
    return Path(said.strip().removeprefix("Using virtualenv: "))


def made_by_pdm(home: Home, root: Path) -> Path:
    """Where a user keeps environments, and not in the project: that one would be found without pdm."""
    prefix = home.folder / "of-pdm" / root.parent.name
    (root / "pyproject.toml").write_text(f"{PYPROJECT}[tool.pdm]\ndistribution = false\n", encoding="utf-8")
    home.make(prefix)
    home.run("pdm", "use", "--no-version-file", "-f", prefix / "bin" / "python", cwd=root)
    return prefix


def made_by_hatch(home: Home, root: Path) -> Path:
    (root / "pyproject.toml").write_text(
        f"{PYPROJECT}[tool.hatch.envs.default]\nskip-install = true\n", encoding="utf-8"
    )
    home.run("hatch", "env", "create", cwd=root)
    return Path(home.run("hatch", "env", "find", cwd=root).strip())


def made_by_pipenv(home: Home, root: Path) -> Path:
    (root / "Pipfile").write_text("[packages]\n", encoding="utf-8")
    home.run("pipenv", "--python", BASE_PYTHON, cwd=root)
    return Path(home.run("pipenv", "--venv", cwd=root).strip())


MANAGED = {"poetry": made_by_poetry, "pdm": made_by_pdm, "hatch": made_by_hatch, "pipenv": made_by_pipenv}


@pytest.mark.parametrize("manager", MANAGED)
async def test_tests_run_in_the_environment_that_a_manager_keeps_elsewhere(
    bench: Workbench, managed_home: Home, manager: str
) -> None:
    make: Callable[[Home, Path], Path] = MANAGED[manager]
    prefix = make(managed_home, bench.root)
    give_pytest(prefix)
    bench.write({"test_it.py": TEST.format(prefix=str(prefix))})

    answer = succeeded(await call("execute_tests", {}, unhelped(bench, managed_home)))

    assert not prefix.is_relative_to(bench.root)
    assert (answer["verdict"], answer["notices"]) == ("passed", [])


@pytest.mark.parametrize("tool", ["venv", "virtualenv", "uv"])
async def test_tests_run_in_the_environment_in_the_project_whatever_made_it(
    bench: Workbench, managed_home: Home, tool: Tool
) -> None:
    managed_home.make(bench.root / ".venv", tool)
    give_pytest(bench.root / ".venv")
    bench.write({"test_it.py": TEST.format(prefix=str(bench.root / ".venv"))})

    answer = succeeded(await call("execute_tests", {}, unhelped(bench, managed_home)))

    assert (answer["verdict"], answer["notices"]) == ("passed", [])


async def test_each_project_of_a_repository_has_its_own_environment(bench: Workbench, managed_home: Home) -> None:
    bench.write({".git/HEAD": ""})
    for place in (".", "services/a", "services/b"):
        folder = bench.root / place
        folder.mkdir(parents=True, exist_ok=True)
        managed_home.make(folder / ".venv")
        give_pytest(folder / ".venv")
        bench.write({f"{place}/test_{folder.name}.py": TEST.format(prefix=str(folder / ".venv"))})
    config = unhelped(bench, managed_home)

    near = succeeded(await call("execute_tests", {"path": "services/a"}, config))
    named = succeeded(await call("execute_tests", {"node_ids": ["services/b/test_b.py::test_prefix"]}, config))
    both = succeeded(await call("execute_tests", {"node_ids": ["services/a", "services/b"]}, config))

    assert (near["verdict"], near["notices"]) == ("passed", [])
    assert (named["verdict"], named["notices"]) == ("passed", [])
    assert both["summary"]["failed"] == 2
    assert "services/a, services/b" in both["notices"][0]


async def test_without_pytest_the_error_has_every_candidate_and_the_line_that_fits_the_project(
    bench: Workbench, managed_home: Home
) -> None:
    managed_home.make(bench.root / ".venv", "uv")
    bench.write({"uv.lock": "", "pyproject.toml": f'{PYPROJECT}[dependency-groups]\ntest = ["pytest>=8"]\n'})

    failure = await call("discover_tests", {}, unhelped(bench, managed_home))

    assert isinstance(failure, Failure)
    assert failure.data["error_type"] == "environment"
    (candidate,) = failure.data["environment"]["candidates"]
    assert candidate["source"] == ".venv in the project root"
    assert failure.message.splitlines()[-1] == "fix: uv sync --inexact --group test"


RENEW = "fix: .venv/bin/python -m pip install --upgrade 'pytest>=7.0'"


@pytest.mark.parametrize(
    ("disguise", "problem", "fix"),
    [
        ("import pytest\npytest.__version__ = '6.2.5'\n", "has pytest 6.2.5, and 7.0 or newer is needed", RENEW),
        ("import sys\nsys.version_info = (3, 7, 16)\n", "is Python 3.7.16, and 3.8 or newer is needed", "fix: "),
    ],
    ids=["pytest", "Python"],
)
async def test_what_is_too_old_is_named_with_the_line_that_renews_it(
    bench: Workbench, managed_home: Home, disguise: str, problem: str, fix: str
) -> None:
    managed_home.make(bench.root / ".venv", "venv")
    (packages,) = bench.root.glob(".venv/lib/python*/site-packages")
    give_pytest(bench.root / ".venv")
    (packages / "sitecustomize.py").write_text(disguise, encoding="utf-8")
    bench.write({"requirements.txt": "pytest\n", "test_a.py": "def test_a(): pass\n"})

    failure = await call("execute_tests", {}, unhelped(bench, managed_home))

    assert isinstance(failure, Failure)
    assert failure.data["error_type"] == "environment"
    (candidate,) = failure.data["environment"]["candidates"]
    assert candidate["problem"] == problem
    assert failure.message.splitlines()[-1].startswith(fix)


async def test_programs_of_the_environment_are_started_by_their_names(bench: Workbench) -> None:
    """As in a shell in which it is active, whatever is active where the server was started."""
    source = """
        import os, shutil, subprocess, sys
        def test_programs():
            told = subprocess.check_output(["python", "-c", "import sys; print(sys.prefix)"], text=True)
            assert told.strip() == sys.prefix == os.environ["VIRTUAL_ENV"]
            assert shutil.which("pytest") == os.path.join(sys.prefix, "bin", "pytest")
            assert shutil.which("of_the_server") is not None
    """
    bench.write({"test_a.py": source, "bin/of_the_server": "#!/bin/sh\n"})
    (bench.root / "bin" / "of_the_server").chmod(0o755)
    environment = {"PATH": f"{bench.root / 'bin'}:/usr/bin:/bin", "VIRTUAL_ENV": "/another"}

    answer = succeeded(await call("execute_tests", {}, bench.config._replace(environment=environment)))

    assert (answer["verdict"], answer["notices"]) == ("passed", [])
