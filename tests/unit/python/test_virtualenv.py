"""What an environment shows without being started."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.python import virtualenv


def written(folder: Path, name: str, settings: str | bytes) -> Path:
    (folder / name).mkdir()
    content = settings if isinstance(settings, bytes) else settings.encode()
    (folder / name / "pyvenv.cfg").write_bytes(content)
    return folder / name


def test_the_newest_python_comes_first_by_number_and_not_by_spelling(tmp_path: Path) -> None:
    old = written(tmp_path, "old", "home = /usr/bin\nversion = 3.9.18\n")
    new = written(tmp_path, "new", "implementation = CPython\nversion_info = 3.10.13\n")
    newer = written(tmp_path, "newer", "version = 3.10.14\nversion_info = 3.10.14.final.0\n")

    assert virtualenv.newest_first([old, new, newer]) == [newer, new, old]


@given(st.binary(max_size=60))
def test_no_settings_are_too_strange_to_be_ordered(tmp_path_factory: pytest.TempPathFactory, settings: bytes) -> None:
    prefix = written(tmp_path_factory.mktemp("strange"), "x", settings)

    assert virtualenv.newest_first([prefix]) == [prefix]


def test_what_cannot_be_looked_at_shows_nothing(tmp_path: Path) -> None:
    """A name that no file can have stands for a folder that may not be entered: both make pathlib raise."""
    prefix = tmp_path / ("x" * 300)

    assert not virtualenv.is_environment(prefix)
    assert not virtualenv.starts(prefix)
    assert not virtualenv.has(prefix, "pytest")
