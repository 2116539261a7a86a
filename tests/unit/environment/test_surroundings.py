"""What is seen of the files and the machine around a project, and a sentence for what may trouble its tests."""

import sys
import tempfile

import pytest

from pytest_mcp import __version__
from pytest_mcp.api.results import Git
from pytest_mcp.environment.surroundings import LITTLE_SPACE, Surroundings, notices, surroundings
from pytest_mcp.python.members import MemberList
from tests.support.invented.surveys import SURROUNDINGS, TEMPORARY, around, portrait
from tests.support.workbench import Workbench


@pytest.mark.parametrize(
    ("name", "is_project"),
    [("pyproject.toml", True), ("tests/test_a.py", True), ("hello.py", True), ("src/a.txt", True), ("a.txt", False)],
)
def test_a_project_is_known_by_one_file(bench: Workbench, name: str, *, is_project: bool) -> None:
    bench.write({name: ""})

    assert surroundings(bench.config).looks_like_a_project == is_project


def test_what_surrounds_a_project_is_seen(bench: Workbench) -> None:
    (bench.root.parent / ".git").mkdir()
    bench.write({"src/shop/__init__.py": "", "src/tool.py": "", "src/notes/readme.txt": "", "other/__init__.py": ""})

    seen = surroundings(bench.config)

    assert seen.git == Git(top_level=str(bench.root.parent), main_checkout=None)
    assert seen.in_src == {"shop", "tool"}
    assert (seen.server.version, seen.server.executable, seen.server_prefix) == (
        __version__,
        sys.executable,
        sys.prefix,
    )
    assert sys.version.startswith(seen.server.python)
    assert (seen.temporary.path, seen.temporary.writable) == (tempfile.gettempdir(), True)
    assert seen.temporary.free_bytes


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


def with_temporary(**known: object) -> Surroundings:
    return around(temporary=TEMPORARY.model_copy(update=known))


@pytest.mark.parametrize(
    "usual",
    [
        SURROUNDINGS,
        around(members=MemberList((), 0, is_complete=True)),
        around(looks_like_a_project=False),
        with_temporary(free_bytes=LITTLE_SPACE),
    ],
)
def test_nothing_is_said_where_all_is_as_it_should_be(usual: Surroundings) -> None:
    assert notices(usual, portrait(), 1) == []


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (with_temporary(writable=False), ["/tmp", "written"]),
        (with_temporary(path=None, writable=False), ["written"]),
        (with_temporary(free_bytes=LITTLE_SPACE - 1), ["99 MB", "/tmp"]),
        (around(server_prefix=portrait().prefix), ["the project's own environment"]),
        (around(members=MemberList((), more=3, is_complete=True)), ["3 more members"]),
        (around(members=MemberList((), more=0, is_complete=False)), ["Not every folder"]),
        (around(looks_like_a_project=False), ["/project has no project file"]),
    ],
)
def test_what_may_trouble_the_tests_is_one_sentence(seen: Surroundings, words: list[str]) -> None:
    (sentence,) = notices(seen, portrait(), 0)

    assert all(word in sentence for word in words)
    assert sentence.endswith(".")
