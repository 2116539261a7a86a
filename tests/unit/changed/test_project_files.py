"""When two files of a checkout are equal, and how one begins."""

import os
import socket
from pathlib import Path

import pytest

from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.changed.project_files import WorkingTree


@pytest.fixture
def files(tmp_path: Path) -> WorkingTree:
    return WorkingTree(tmp_path)


def test_files_are_equal_by_content_and_mode(files: WorkingTree, tmp_path: Path) -> None:
    for name, content in {"a": "x", "b": "x", "c": "y", "d": "x"}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "d").chmod(0o755)

    assert files.digest(b"a") == files.digest(b"b")
    assert len({files.digest(name) for name in (b"a", b"c", b"d", b"gone")}) == 4


def test_a_link_is_equal_by_its_target_and_is_not_followed(files: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").write_bytes(b"x")
    for name, target in {"one": "a", "two": "a", "other": "b"}.items():
        (tmp_path / name).symlink_to(target)

    assert files.digest(b"one") == files.digest(b"two")
    assert len({files.digest(name) for name in (b"a", b"one", b"other")}) == 3
    assert files.head(b"a", 1) == b"x"
    assert files.head(b"one", 1) == b""


def test_a_file_behind_a_linked_folder_is_not_there(files: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "linked").symlink_to("real")

    assert files.head(b"real/a", 1) == b"x"
    assert files.head(b"linked/a", 1) == b""
    assert files.digest(b"linked/a") == files.digest(b"real/gone")


def test_pipes_sockets_and_folders_are_not_read(files: WorkingTree, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))

        assert {files.head(name, 1) for name in (b"pipe", b"folder", b"socket", b"nothing")} == {b""}
        assert len({files.digest(name) for name in (b"pipe", b"folder", b"socket", b"nothing")}) == 4


def test_reading_ends_at_its_limit(tmp_path: Path) -> None:
    with pytest.raises(CannotTell, match="could not be read within -1 seconds"):
        WorkingTree(tmp_path, seconds=-1).digest(b"a")
