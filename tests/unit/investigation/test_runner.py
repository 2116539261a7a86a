"""The time of an investigation, for its runs and for all of it; and which targets are the suite of a test."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation.runner import OutOfTime, Runner, deadline_of_runs, suite_targets
from pytest_mcp.process.supervisor_protocol import OVERTIME_SECONDS
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.events import Portrait
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize(("seconds", "kept"), [(240, OVERTIME_SECONDS), (10, 2.0)])
async def test_runs_must_end_so_early_that_ending_them_does_not_delay_the_answer(seconds: int, kept: float) -> None:
    earliest = anyio.current_time() + seconds - kept
    deadline = deadline_of_runs(seconds)

    assert earliest <= deadline.moment <= anyio.current_time() + seconds - kept
    assert deadline.limit == seconds


async def test_nothing_goes_on_when_all_of_it_must_be_over(tmp_path: Path) -> None:
    config = configure(Options(root=str(tmp_path)), {})
    runner = Runner(config, Candidate(Path("python"), ""), deadline_of_runs(240), end=anyio.current_time())

    with anyio.fail_after(PATIENCE), pytest.raises(OutOfTime), runner.in_time():
        await anyio.sleep_forever()


async def test_in_a_copy_git_is_not_told_the_repository_of_the_checkout(tmp_path: Path) -> None:
    given = {"GIT_DIR": f"{tmp_path}/.git", "GIT_INDEX_FILE": f"{tmp_path}/.git/index", "GIT_AUTHOR_NAME": "a name"}
    config = configure(Options(root=str(tmp_path)), given)
    runner = Runner(config, Candidate(Path("python"), ""), deadline_of_runs(240))

    moved = runner.at(tmp_path / "copy", instead_of=tmp_path)

    assert {name for name in moved.config.environment if name.startswith("GIT_")} == {"GIT_AUTHOR_NAME"}


# (settings file, testpaths, folder of the environment) and what is collected for packages/a/tests/test_it.py.
TESTPATHS = ("packages/a/tests", "packages/b/tests")
CASES = {
    "settings of the member": ("packages/a/pytest.ini", [], ".", ("packages/a",)),
    "its testpaths": ("packages/a/pytest.ini", ["tests", "missing"], ".", ("packages/a/tests",)),
    "wildcards are not expanded": ("packages/a/pytest.ini", ["t*"], ".", ("packages/a",)),
    "only an environment of its own": (None, [], "packages/a", ("packages/a",)),
    "environment of its own, settings of the root": ("pytest.ini", [], "packages/a", ("packages/a",)),
    "testpaths of the root, which is not the member's": ("pytest.ini", TESTPATHS, "packages/a", TESTPATHS[:1]),
    "settings inside of a member": ("packages/a/tests/pytest.ini", [], "packages/a", ("packages/a/tests",)),
    "settings and environment of the root": ("pytest.ini", TESTPATHS, ".", ()),
    "nothing": (None, [], "..", ()),
    "settings and environment of another folder": ("packages/b/pytest.ini", [], "packages/b", ()),
    "testpaths that lead out of the root": ("packages/a/pytest.ini", ["../../.."], ".", ("packages/a",)),
}


@pytest.mark.parametrize(("settings", "testpaths", "environment", "expected"), CASES.values(), ids=CASES)
def test_the_suite_of_a_test_is_that_of_the_innermost_folder_with_its_settings_or_its_environment(
    tmp_path: Path, settings: str | None, testpaths: Sequence[str], environment: str, expected: tuple[str, ...]
) -> None:
    for name in "ab":
        (tmp_path / "packages" / name / "tests").mkdir(parents=True)
    inifile = None if settings is None else tmp_path / settings

    found = suite_targets(
        tmp_path / "packages/a/tests/test_it.py",
        tmp_path,
        _portrait(tmp_path if inifile is None else inifile.parent, inifile, testpaths),
        (tmp_path / environment).resolve() / ".venv/bin/python",
    )

    assert found == expected


def test_a_folder_that_no_call_can_name_is_not_collected_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a[1]"
    folder.mkdir()

    found = suite_targets(
        folder / "test_it.py", tmp_path, _portrait(folder, folder / "pytest.ini", []), tmp_path / ".venv/bin/python"
    )

    assert found == ()


def _portrait(rootdir: Path, inifile: Path | None, testpaths: Sequence[str]) -> Portrait:
    settings = None if inifile is None else str(inifile)
    return Portrait("", str(rootdir), settings, [], [*testpaths], addopts=[], python_files=[], markers=[])
