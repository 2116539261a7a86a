"""What is seen of the files and the machine around a project."""

import sys
import tempfile
from pathlib import Path

import pytest

from pytest_mcp import __version__
from pytest_mcp.config.model import Config
from pytest_mcp.environment.host import look
from pytest_mcp.python.django import Django
from pytest_mcp.python.git_files import Checkout
from tests.support.projects.disk import environment
from tests.support.workbench import Workbench


def with_variable(config: Config, name: str, value: str) -> Config:
    return config._replace(environment={**config.environment, name: value})


def test_an_empty_folder_does_not_look_like_a_project(bench: Workbench) -> None:
    around = look(bench.config)

    assert (around.root, around.checkout, around.looks_like_a_project) == (bench.root, None, False)


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "setup.py", "pytest.ini", "tests/test_a.py", "hello.py", "src/a.txt"]
)
def test_a_project_is_known_by_one_file(bench: Workbench, name: str) -> None:
    bench.write({name: ""})

    assert look(bench.config).looks_like_a_project


def test_the_checkout_is_that_of_the_root(bench: Workbench) -> None:
    (bench.root.parent / ".git").mkdir()

    assert look(bench.config).checkout == Checkout(bench.root.parent, None)


def test_what_can_be_imported_from_src_is_known(bench: Workbench) -> None:
    bench.write({"src/shop/__init__.py": "", "src/tool.py": "", "src/notes/readme.txt": "", "other/__init__.py": ""})

    assert look(bench.config).in_src == {"shop", "tool"}


def test_the_server_tells_of_itself(bench: Workbench) -> None:
    server = look(bench.config).server

    assert (server.version, server.executable, server.prefix) == (__version__, sys.executable, sys.prefix)
    assert sys.version.startswith(server.python)


def test_the_temporary_folder_is_the_one_that_runs_use(bench: Workbench) -> None:
    folder = look(with_variable(bench.config, "TMPDIR", tempfile.gettempdir())).temporary

    assert (folder.path, folder.writable, folder.ignored) == (Path(tempfile.gettempdir()), True, None)
    assert folder.free_bytes is not None
    assert folder.free_bytes > 0


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_a_variable_whose_folder_is_not_used_is_named_without_its_value(bench: Workbench, name: str) -> None:
    around = look(with_variable(bench.config, name, "/no/such/secret"))

    assert around.temporary.ignored == name
    assert "secret" not in repr(around)


def test_a_temporary_folder_that_is_gone_cannot_be_written_to(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(bench.root / "gone"))

    folder = look(bench.config).temporary

    assert (folder.writable, folder.free_bytes) == (False, None)


def test_a_member_of_a_monorepo_is_looked_at_itself(bench: Workbench) -> None:
    """Its sources, and the line that installs it, not those of the root."""
    bench.write({"packages/a/setup.py": "", "packages/a/src/shop.py": "", "packages/a/tests/test_a.py": ""})
    python = bench.root / "packages/a/.venv/bin/python"

    around = look(bench.config, python, bench.root / "packages/a/tests")

    assert around.in_src == {"shop"}
    assert around.installation is not None
    assert around.installation.endswith("-m pip install -e ./packages/a")


@pytest.mark.parametrize(
    ("manage", "module"),
    [
        ("os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'mysite.settings')\n", "mysite.settings"),
        ('os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mysite; rm -r .")\n', None),
        ("print('manages something else')\n", None),
    ],
    ids=["django", "forged", "another"],
)
def test_a_django_project_is_told_by_its_manage_py(bench: Workbench, manage: str, module: str | None) -> None:
    bench.write({"manage.py": manage})
    python = environment(bench.root / ".venv", "pip") / "bin" / "python"

    found = look(bench.config._replace(python=None), python).django

    assert found == (module and Django(module, ".venv/bin/python -m pip install pytest-django"))
