"""What is seen of the files and the machine around a project, and a sentence for what may trouble its tests."""

import sys
import tempfile
from pathlib import Path

import pytest

from pytest_mcp import __version__
from pytest_mcp.api.results import Git
from pytest_mcp.environment.surroundings import LITTLE_SPACE, Django, Surroundings, notices, surroundings
from pytest_mcp.python.members import MemberList
from tests.support.invented.surveys import SURROUNDINGS, TEMPORARY, around, portrait
from tests.support.projects.disk import environment
from tests.support.workbench import Workbench


def test_an_empty_folder_does_not_look_like_a_project(bench: Workbench) -> None:
    seen = surroundings(bench.config)

    assert (seen.root, seen.git, seen.looks_like_a_project) == (bench.root, None, False)


@pytest.mark.parametrize("name", ["pyproject.toml", "pytest.ini", "tests/test_a.py", "hello.py", "src/a.txt"])
def test_a_project_is_known_by_one_file(bench: Workbench, name: str) -> None:
    bench.write({name: ""})

    assert surroundings(bench.config).looks_like_a_project


def test_the_checkout_is_that_of_the_root(bench: Workbench) -> None:
    (bench.root.parent / ".git").mkdir()

    assert surroundings(bench.config).git == Git(top_level=str(bench.root.parent), main_checkout=None)


def test_what_can_be_imported_from_src_is_known(bench: Workbench) -> None:
    bench.write({"src/shop/__init__.py": "", "src/tool.py": "", "src/notes/readme.txt": "", "other/__init__.py": ""})

    assert surroundings(bench.config).in_src == {"shop", "tool"}


def test_the_server_tells_of_itself(bench: Workbench) -> None:
    seen = surroundings(bench.config)

    assert (seen.server.version, seen.server.executable) == (__version__, sys.executable)
    assert sys.version.startswith(seen.server.python)
    assert seen.server_prefix == sys.prefix


def test_the_temporary_folder_is_the_one_that_runs_use(bench: Workbench) -> None:
    folder = surroundings(bench.config).temporary

    assert (folder.path, folder.writable) == (tempfile.gettempdir(), True)
    assert folder.free_bytes


def test_a_temporary_folder_that_is_gone_cannot_be_written_to(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(bench.root / "gone"))

    folder = surroundings(bench.config).temporary

    assert (folder.writable, folder.free_bytes) == (False, None)


def test_a_member_of_a_monorepo_is_looked_at_itself(bench: Workbench) -> None:
    """Its sources, and the line that installs it, not those of the root."""
    bench.write({"packages/a/setup.py": "", "packages/a/src/shop.py": "", "packages/a/tests/test_a.py": ""})
    python = bench.root / "packages/a/.venv/bin/python"

    seen = surroundings(bench.config, python, bench.root / "packages/a/tests")

    assert seen.in_src == {"shop"}
    assert seen.installation is not None
    assert seen.installation.endswith("-m pip install -e ./packages/a")


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

    django = surroundings(bench.config._replace(python=None), python).django

    assert django == (module and Django(module, ".venv/bin/python -m pip install pytest-django"))


def with_temporary(**known: object) -> Surroundings:
    return around(temporary=TEMPORARY.model_copy(update=known))


@pytest.mark.parametrize(
    "usual",
    [
        SURROUNDINGS,
        around(git=Git(top_level=str(Path("/")), main_checkout="/main")),
        around(members=MemberList((), 0, is_complete=True)),
        with_temporary(free_bytes=None),
        with_temporary(free_bytes=LITTLE_SPACE),
    ],
)
def test_nothing_is_said_where_all_is_as_it_should_be(usual: Surroundings) -> None:
    assert notices(usual, portrait(), 1) == []
    assert notices(usual, None, 0) == []


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (with_temporary(writable=False), ["/tmp", "written"]),
        (with_temporary(path=None, writable=False), ["written"]),
        (with_temporary(free_bytes=LITTLE_SPACE - 1), ["99 MB", "/tmp"]),
        (around(server_prefix=portrait().prefix), ["the project's own environment"]),
        (around(members=MemberList((), more=3, is_complete=True)), ["3 more members"]),
        (around(members=MemberList((), more=0, is_complete=False)), ["Not every folder"]),
    ],
)
def test_what_may_trouble_the_tests_is_one_sentence(seen: Surroundings, words: list[str]) -> None:
    (sentence,) = notices(seen, portrait(), 1)

    assert all(word in sentence for word in words)
    assert sentence.endswith(".")


def test_a_folder_without_any_sign_of_a_project_is_told_unless_it_has_tests() -> None:
    nowhere = around(looks_like_a_project=False)

    (sentence,) = notices(nowhere, None, 0)

    assert sentence.startswith("/project has no project file")
    assert notices(nowhere, portrait(), 1) == []
