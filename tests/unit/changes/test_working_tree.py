"""Whether a file is the one that git has stored."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from pytest_mcp.changes import working_tree
from pytest_mcp.changes.git_commands import CannotTell, Settings
from pytest_mcp.changes.listings import LINK, Entry
from pytest_mcp.changes.working_tree import WorkingTree


def entry(content: bytes, mode: bytes = b"100644") -> Entry:
    return Entry(mode, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest().encode())


@pytest.fixture
def files(tmp_path: Path) -> WorkingTree:
    return WorkingTree(tmp_path, Settings(executable_bits=True, converts_line_ends=True))


def test_a_file_is_the_same_by_content_and_executable_bit(files: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")

    assert files.has_same(b"a", entry(b"x"))
    assert not files.has_same(b"a", entry(b"y"))
    assert not files.has_same(b"a", entry(b"x", b"100755"))


def test_a_link_is_the_same_by_its_target_and_is_not_followed(files: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")

    assert files.has_same(b"link", entry(b"a", LINK))
    assert not files.has_same(b"link", entry(b"x"))
    assert not files.has_same(b"a", entry(b"x", LINK))


def test_a_file_behind_a_linked_folder_is_not_there(files: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "linked").symlink_to("real")

    assert files.has_same(b"real/a", entry(b"x"))
    assert not files.has_same(b"linked/a", entry(b"x"))
    assert files.mode(b"linked/a") is None
    assert files.names(b"linked") is None


def test_pipes_sockets_and_folders_are_no_files(files: WorkingTree, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))

        assert not any(files.has_same(name, entry(b"")) for name in (b"pipe", b"folder", b"socket", b"nothing"))


def test_a_file_that_is_too_large_is_changed(
    files: WorkingTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"xx")
    monkeypatch.setattr(working_tree, "MOST_BYTES", 1)

    assert not files.has_same(b"a", entry(b"xx"))


def test_comparing_ends_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_tree, "HASH_SECONDS", -1)
    files = WorkingTree(tmp_path, Settings(executable_bits=True, converts_line_ends=False))

    with pytest.raises(CannotTell):
        files.has_same(b"a", entry(b""))
