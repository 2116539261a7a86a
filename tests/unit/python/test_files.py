"""Files that a repository may bring: whatever they are, reading them ends, soon and without an exception."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_mcp.python import files
from pytest_mcp.python.files import package_names, read_manifest

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True) | st.just("pytest")
EXTRAS = st.sampled_from(["", "[testing]", " [a, b]"])
VERSIONS = st.sampled_from(["", ">=8", " >= 8, <9", "==8.*", "~=8.1", "!=7", " (>=8)", " @ https://example.org/x.whl"])
MARKERS = st.sampled_from(["", " ; python_version < '3'", " ; extra == 'x'"])


def test_an_ordinary_file_is_read_and_odd_bytes_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("grün\n".encode() + b"\xff")

    assert files.text(tmp_path / "file") == "grün\n�"


def test_what_is_no_ordinary_file_says_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "around").symlink_to(tmp_path / "around")
    (tmp_path / "folder").mkdir()

    said = [
        files.text(tmp_path / name) for name in ("pipe", "endless", "around", "folder", "missing", "nul\0", "x" * 300)
    ]

    assert said == [""] * 7


def test_a_file_that_is_too_long_is_not_read_in_part(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x" * 11, encoding="utf-8")

    assert (files.text(tmp_path / "file", 10), files.text(tmp_path / "file", 11)) == ("", "x" * 11)


def test_a_huge_folder_is_listed_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"folder{number}").mkdir()
    monkeypatch.setattr(files, "MAX_ENTRIES", 3)

    assert len(files.folders(tmp_path)) == 3
    assert files.folders(tmp_path / "missing") == []


def test_nothing_holds_of_what_cannot_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "around").symlink_to(tmp_path / "around")

    assert not files.holds((tmp_path / "around").exists)
    assert not files.holds(Path("nul\0").exists)
    assert files.holds(tmp_path.exists)


def test_a_file_in_another_encoding_and_a_pipe_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[\x00")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/pyproject.toml")

    assert read_manifest(tmp_path).pyproject == read_manifest(tmp_path / "pipe").pyproject == {}


@given(st.tuples(NAMES, EXTRAS, VERSIONS, MARKERS).map("".join))
def test_a_requirement_has_the_name_that_packaging_reads(text: str) -> None:
    assert package_names([f" {text}"]) == {canonicalize_name(Requirement(text).name)}
