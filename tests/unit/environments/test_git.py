"""What git's files say of a folder, with the real git as the one who wrote them."""

from pathlib import Path

import pytest

from pytest_mcp.environments.git import Checkout, find
from tests.support.git import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = (tmp_path / "main").resolve()
    folder.mkdir()
    git("init", cwd=folder)
    git("commit", "--allow-empty", "-m", "nothing yet", cwd=folder)
    return folder


def test_a_folder_outside_every_repository_has_no_checkout(tmp_path: Path) -> None:
    assert find(tmp_path) is None


def test_the_top_of_a_checkout_is_found_from_deep_inside(repository: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)

    assert find(repository / "a" / "b") == Checkout(repository, None)


@pytest.mark.parametrize("relative", ["false", "true"])
def test_a_linked_worktree_knows_its_main_checkout(repository: Path, tmp_path: Path, relative: str) -> None:
    linked = (tmp_path / "linked").resolve()
    git("-c", f"worktree.useRelativePaths={relative}", "worktree", "add", linked, cwd=repository)

    assert find(linked) == Checkout(linked, repository)


def test_a_worktree_that_git_moved_is_still_known(repository: Path, tmp_path: Path) -> None:
    moved = (tmp_path / "moved").resolve()
    git("worktree", "add", tmp_path / "linked", cwd=repository)
    git("worktree", "move", tmp_path / "linked", moved, cwd=repository)

    assert find(moved) == Checkout(moved, repository)


def test_a_worktree_of_a_bare_repository_has_no_main_checkout(repository: Path, tmp_path: Path) -> None:
    bare, linked = tmp_path / "bare", (tmp_path / "linked").resolve()
    git("clone", "--bare", repository, bare, cwd=tmp_path)
    git("worktree", "add", linked, cwd=bare)

    assert find(linked) == Checkout(linked, None)


def test_a_submodule_is_no_worktree(repository: Path, tmp_path: Path) -> None:
    outer = (tmp_path / "outer").resolve()
    outer.mkdir()
    git("init", cwd=outer)
    git("submodule", "add", repository, "inner", cwd=outer)

    assert find(outer / "inner") == Checkout(outer / "inner", None)


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: /nowhere/.git/worktrees/x", b"\xff\xfe", b"hello"])
def test_a_git_file_that_nobody_confirms_is_not_believed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)

    assert find(tmp_path) == Checkout(tmp_path, None)


def test_a_git_file_that_points_to_somebody_elses_worktree_is_not_believed(repository: Path, tmp_path: Path) -> None:
    """Who unpacks an archive with such a file must not get the Python of a folder that it chose."""
    git("worktree", "add", tmp_path / "linked", cwd=repository)
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_bytes((tmp_path / "linked" / ".git").read_bytes())

    assert find(forged) == Checkout(forged, None)
