"""The private folder of a run: nobody else's, and never left for long."""

import inspect
import os
import resource
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from pytest_mcp.process import run_folder
from pytest_mcp.process.run_folder import PREFIX, FolderError
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_a_folder_and_its_files_are_for_this_user_whatever_the_umask(mask: int) -> None:
    with umask(mask):
        folder = run_folder.make()
        os.close(folder.create("file", os.O_WRONLY))

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.path, folder.path / "file")]
    folder.remove()

    assert modes == [0o700, 0o600]


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_folder_that_cannot_be_opened_is_not_left(temporary: Path) -> None:
    with no_more_descriptors(), pytest.raises(FolderError, match="Too many open files"):
        run_folder.make()

    assert list(temporary.iterdir()) == []


def test_the_next_start_removes_what_nobody_holds_and_nothing_else(temporary: Path) -> None:
    held = run_folder.make()
    abandoned = run_folder.make()
    os.close(abandoned.descriptor)
    (abandoned.path / "report").write_text("")
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    link, named, file = (temporary / f"{PREFIX}{name}" for name in ("0" * 16, "of-a-person", "1" * 16))
    link.symlink_to(elsewhere)
    named.mkdir()
    file.write_text("")

    run_folder.remove_abandoned()

    anyio.run(until, lambda: not abandoned.path.exists())
    held.remove()
    assert sorted(temporary.iterdir()) == sorted([elsewhere, link, named, file])


def test_a_folder_that_another_start_removes_while_it_is_made_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its creation and its lock, when it looks abandoned."""
    chmod = Path.chmod
    made: list[Path] = []

    def after_another_start(path: Path, mode: int) -> None:
        made.append(path)
        if len(made) == 1:
            run_folder.remove_abandoned()
            anyio.run(until, lambda: not path.exists())
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", after_another_start)
    folder = run_folder.make()

    assert [path.exists() for path in made] == [False, True]
    folder.remove()


def test_a_file_that_is_there_already_is_neither_followed_nor_used(temporary: Path) -> None:
    folder = run_folder.make()
    (folder.path / "report").symlink_to(temporary / "stolen")

    with pytest.raises(FileExistsError):
        folder.create("report", os.O_WRONLY)

    folder.remove()
    assert list(temporary.iterdir()) == []


def test_a_temporary_folder_that_is_not_there_is_one_clear_error(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "nowhere"))

    with pytest.raises(FolderError, match="No such file or directory"):
        run_folder.make()


@contextmanager
def recursion(depth: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def test_a_folder_that_is_too_deep_for_recursion_is_removed(tmp_path: Path) -> None:
    folder = run_folder.make()
    place = os.open(folder.path, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=place)
        inside = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inside
    os.close(os.open("file", os.O_CREAT, dir_fd=place))
    os.close(place)
    (tmp_path / "kept").mkdir()
    (folder.path / "link").symlink_to(tmp_path)

    with recursion(100):
        folder.remove()

    assert not folder.path.exists()
    assert (tmp_path / "kept").is_dir()


def test_a_link_in_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "inner").mkdir(parents=True)
    folder = run_folder.make()
    folder.path.rmdir()
    folder.path.symlink_to(tmp_path)

    folder.remove()

    assert (tmp_path / "theirs" / "inner").is_dir()
    folder.path.unlink()
