from pathlib import Path

import pytest

from pytest_mcp.investigation import suite_places
from pytest_mcp.run.events import Portrait

# (settings file, testpaths, folder of the environment) and what is collected for packages/a/tests/test_it.py.
CASES = {
    "settings of the member": ("packages/a/pytest.ini", [], ".", ("packages/a",)),
    "its testpaths": ("packages/a/pytest.ini", ["tests", "missing"], ".", ("packages/a/tests",)),
    "wildcards are not expanded": ("packages/a/pytest.ini", ["t*"], ".", ("packages/a",)),
    "only an environment of its own": (None, [], "packages/a", ("packages/a",)),
    "environment of its own, settings of the root": ("pytest.ini", [], "packages/a", ("packages/a",)),
    "testpaths of the root that are the member's": (
        "pytest.ini",
        ["packages/a/tests", "packages/b/tests"],
        "packages/a",
        ("packages/a/tests",),
    ),
    "settings inside of a member": ("packages/a/tests/pytest.ini", [], "packages/a", ("packages/a/tests",)),
    "settings and environment of the root": ("pytest.ini", ["packages/a/tests"], ".", ()),
    "nothing": (None, [], "..", ()),
    "settings and environment of another folder": ("packages/b/pytest.ini", [], "packages/b", ()),
    "testpaths that lead out of the root": ("packages/a/pytest.ini", ["../../.."], ".", ("packages/a",)),
}


@pytest.mark.parametrize(("settings", "testpaths", "environment", "expected"), CASES.values(), ids=CASES)
def test_the_suite_of_a_test_is_that_of_the_innermost_folder_with_its_settings_or_its_environment(
    tmp_path: Path, settings: str | None, testpaths: list[str], environment: str, expected: tuple[str, ...]
) -> None:
    for name in "ab":
        (tmp_path / "packages" / name / "tests").mkdir(parents=True)
    inifile = None if settings is None else tmp_path / settings

    found = suite_places.of(
        tmp_path / "packages/a/tests/test_it.py",
        tmp_path,
        _portrait(tmp_path if inifile is None else inifile.parent, inifile, testpaths),
        (tmp_path / environment).resolve() / ".venv/bin/python",
    )

    assert found == expected


def test_a_folder_that_no_call_can_name_is_not_collected_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a[1]"
    folder.mkdir()

    found = suite_places.of(
        folder / "test_it.py", tmp_path, _portrait(folder, folder / "pytest.ini", []), tmp_path / ".venv/bin/python"
    )

    assert found == ()


def _portrait(rootdir: Path, inifile: Path | None, testpaths: list[str]) -> Portrait:
    settings = None if inifile is None else str(inifile)
    return Portrait("", str(rootdir), settings, [], testpaths, addopts=[], python_files=[], markers=[])
