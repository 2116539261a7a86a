"""No test that a broken module fails is missing from the selection: every module of the corpus is broken for real."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mcp.changed import reach
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.run.run import Reach
from tests.support.projects.project_files import write_files
from tests.unit.changed.corpus import PROJECTS

BREAKER = Path(__file__).with_name("breaker.py")
# Not imported at all, and imported with a wrong value.
BREAKS = (b"raise ImportError('broken')\nVALUE = 1", b"VALUE = 2")
Failing = dict[tuple[str, str | None, bytes], list[str] | None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    for name, project in PROJECTS.items():
        write_files(root / name, project.files)
    return root


@pytest.fixture(scope="module")
def failing(folder: Path) -> Failing:
    """The files that fail when a module of a project is broken, by pytest itself; None stands for no module."""
    asked: list[tuple[str, str | None, bytes]] = [(name, None, b"VALUE = 1") for name in PROJECTS]
    asked += [
        (name, module, broken) for name, project in PROJECTS.items() for module in project.modules for broken in BREAKS
    ]
    lines = [json.dumps(_order(folder / name, module or PROJECTS[name].modules[0], to)) for name, module, to in asked]
    done = subprocess.run(
        [sys.executable, "-B", str(BREAKER)],
        input="\n".join(lines),
        text=True,
        capture_output=True,
        check=True,
        timeout=300,
        # A module that is broken and mended within a second, with the same size, looks to Python like its cache.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return dict(zip(asked, map(json.loads, done.stdout.splitlines()), strict=True))


def _order(folder: Path, module: str, broken: bytes) -> list[object]:
    content = (folder / module).read_bytes().replace(b"VALUE = 1", broken)
    return [str(folder), module, [content.decode("latin-1")]]


def reached(folder: Path, module: str, broken: bytes) -> Reach:
    """What the module reaches when it is broken."""
    whole = (folder / module).read_bytes()
    (folder / module).write_bytes(whole.replace(b"VALUE = 1", broken))
    try:
        return reach.reach_of(Changes("main", "0" * 40, frozenset({module}), frozenset()), {module: whole}, folder)
    finally:
        (folder / module).write_bytes(whole)


@pytest.mark.parametrize("name", PROJECTS)
def test_no_failing_test_is_missing_from_the_selection(name: str, folder: Path, failing: Failing) -> None:
    assert failing[name, None, b"VALUE = 1"] == []
    for module in PROJECTS[name].modules:
        # A module that breaks nothing would prove nothing.
        assert any(failing[name, module, broken] for broken in BREAKS), module
        for broken in BREAKS:
            found = reached(folder / name, module, broken)
            assert not set(failing[name, module, broken] or ()) & set(found.unreached), (module, broken, found)


@pytest.mark.parametrize(
    ("name", "module", "spared"),
    [(name, module, file) for name, project in PROJECTS.items() for module, file in project.spared.items()],
)
def test_a_change_does_not_reach_what_does_not_use_it(name: str, module: str, spared: str, folder: Path) -> None:
    found = reached(folder / name, module, BREAKS[-1])

    assert found.reason is None
    assert spared in found.unreached, found
