"""No test that a broken module fails is missing from the selection: every module of the corpus is broken for real."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mcp.changed import reach
from pytest_mcp.changed.working_tree import Changes
from tests.support.projects.project_files import write_files
from tests.unit.changed.corpus import PROJECTS

BREAKER = Path(__file__).with_name("breaker.py")
# Not imported at all; if then nothing runs or fails, imported with a wrong value.
BREAKS = (b"raise ImportError('broken')\nVALUE = 1", b"VALUE = 2")
Failing = dict[tuple[str, str | None], list[str] | None]


def changed(*files: str) -> Changes:
    return Changes("main", "0" * 40, frozenset(files), frozenset())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    for name, project in PROJECTS.items():
        write_files(root / name, project.files)
    return root


@pytest.fixture(scope="module")
def failing(folder: Path) -> Failing:
    """The files that fail when a module of a project is broken, by pytest itself; None stands for no module."""
    asked: list[tuple[str, str | None]] = [
        (name, module) for name, project in PROJECTS.items() for module in (None, *project.modules)
    ]
    lines = [
        json.dumps(_order(folder / name, module or PROJECTS[name].modules[0], module is None)) for name, module in asked
    ]
    done = subprocess.run(
        [sys.executable, "-B", str(BREAKER)],
        input="\n".join(lines),
        text=True,
        capture_output=True,
        check=True,
        timeout=300,
    )
    return dict(zip(asked, map(json.loads, done.stdout.splitlines()), strict=True))


def _order(folder: Path, module: str, whole: bool) -> list[object]:
    content = (folder / module).read_bytes()
    contents = [content] if whole else [content.replace(b"VALUE = 1", broken) for broken in BREAKS]
    return [str(folder), module, [each.decode("latin-1") for each in contents]]


@pytest.mark.parametrize("name", PROJECTS)
def test_no_failing_test_is_missing_from_the_selection(name: str, folder: Path, failing: Failing) -> None:
    assert failing[name, None] == []
    for module in PROJECTS[name].modules:
        found = reach.reach_of(changed(module), folder / name)
        # A module that breaks nothing would prove nothing.
        assert failing[name, module], module
        assert not set(failing[name, module] or ()) & set(found.unreached), (module, found)


@pytest.mark.parametrize(
    ("name", "module", "spared"),
    [(name, module, file) for name, project in PROJECTS.items() for module, file in project.spared.items()],
)
def test_a_change_does_not_reach_what_does_not_import_it(name: str, module: str, spared: str, folder: Path) -> None:
    found = reach.reach_of(changed(module), folder / name)

    assert found.reason is None
    assert spared in found.unreached, found
