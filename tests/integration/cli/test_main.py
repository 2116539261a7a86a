"""The program as clients start it: in a project's folder, whose files must not be taken for Python's own."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pytest_mcp.cli.setup.plan import server_command
from tests.support.captured import captured
from tests.support.commands.installations import running
from tests.support.paths import ROOT

# Modules of the standard library that the server imports, and one that uvicorn looks for.
SHADOWS = ("json", "argparse", "logging", "uvloop")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with modules that have such names and tell when they are imported."""
    project = tmp_path / "project"
    project.mkdir()
    for name in SHADOWS:
        (project / f"{name}.py").write_text(
            "import sys\nsys.exit(f'{__name__} of the project was imported')\n", encoding="utf-8"
        )
    return project


def said(words: list[str], project: Path, python_path: str) -> "subprocess.CompletedProcess[str]":
    return captured([*words, "--version"], cwd=project, env={"PYTHONPATH": python_path, "HOME": str(project.parent)})


@pytest.mark.parametrize("python_path", ["", ":", "/nowhere:", ":/nowhere", "/nowhere::/elsewhere"])
def test_a_project_can_have_modules_with_the_names_of_pythons(project: Path, tmp_path: Path, python_path: str) -> None:
    _, *arguments = server_command(running(tmp_path))

    done = said([sys.executable, *arguments], project, python_path.replace(":", os.pathsep))

    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_is_named_stays_on_the_path(project: Path) -> None:
    done = said([sys.executable, "-P", "-m", "pytest_mcp"], project, str(project))

    assert "of the project was imported" in done.stderr


def test_the_program_can_be_started_where_it_lies_and_where_nothing_is(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = ["sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh"]

    where_it_lies = said([sys.executable, "-m", "pytest_mcp"], ROOT / "src", "")
    where_python_lies = said([sys.executable, "-m", "pytest_mcp"], Path(os.__file__).parent, os.pathsep)
    nowhere = said([*leave, sys.executable, "-m", "pytest_mcp"], tmp_path, "")

    assert [done.stderr for done in (where_it_lies, where_python_lies, nowhere)] == ["", "", ""]


def test_the_commands_start_the_program_in_the_same_way() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert set(project["scripts"].values()) == {"pytest_mcp.__main__:main"}


@pytest.mark.parametrize(
    ("flags", "package", "extra"),
    [
        (["--http=0", "--metrics"], "prometheus_client", "metrics"),
        (["--traces"], "opentelemetry.exporter", "otel"),
    ],
)
def test_an_extra_that_is_not_installed_is_named_in_one_sentence(
    tmp_path: Path, flags: list[str], package: str, extra: str
) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from pytest_mcp.cli.main import main; sys.exit(main())"

    done = captured([sys.executable, "-c", program, f"--root={tmp_path}", *flags])

    assert done.returncode == 2
    assert done.stderr.startswith(f"pytest-mcp: {flags[-1]} needs {package}")
    assert done.stderr.endswith(f': install "pytest-mcp-server[{extra}]".\n')
    assert len(done.stderr.splitlines()) == 1


def test_on_windows_one_sentence_says_to_use_wsl(tmp_path: Path) -> None:
    """Without the modules that Windows does not have, so that an import that came too early would fail here too."""
    missing = "sys.modules.update(dict.fromkeys(('fcntl', 'termios', 'pwd', 'grp', 'resource')))"
    program = f"import runpy, sys; sys.platform = 'win32'; {missing}; runpy.run_module('pytest_mcp')"

    done = captured([sys.executable, "-c", program], cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "use WSL" in done.stderr
    assert len(done.stderr.splitlines()) == 1
