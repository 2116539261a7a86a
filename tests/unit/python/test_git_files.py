"""What git's files say of a folder, with the real git as the one who wrote them."""

from pathlib import Path

import pytest

from pytest_mcp.python.git_files import Checkout, find, head_commit, is_tracked
from tests.support.git import commit_all, git, output


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = (tmp_path / "main").resolve()
    folder.mkdir()
    commit_all(folder)
    return folder


def test_the_top_of_a_checkout_is_found_from_deep_inside(repository: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)

    assert find(repository / "a" / "b") == Checkout(repository, None)


@pytest.mark.parametrize("relative", ["false", "true"])
def test_a_linked_worktree_knows_its_main_checkout(repository: Path, tmp_path: Path, relative: str) -> None:
    linked = (tmp_path / "linked").resolve()
    git("-c", f"worktree.useRelativePaths={relative}", "worktree", "add", linked, cwd=repository)

    assert find(linked) == Checkout(linked, repository)


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


def hash_of_head(folder: Path) -> str:
    return output("rev-parse", "HEAD", cwd=folder)


@pytest.mark.parametrize("state", ["on a branch", "detached", "packed", "on a branch with a slash"])
def test_the_commit_that_is_checked_out_is_what_git_says(repository: Path, state: str) -> None:
    commands = {
        "detached": "checkout --detach",
        "packed": "pack-refs --all",
        "on a branch with a slash": "switch -c a/b",
    }
    if state in commands:
        git(*commands[state].split(), cwd=repository)
    (repository / "below").mkdir()

    assert head_commit(repository / "below") == hash_of_head(repository)


def test_a_linked_worktree_and_a_submodule_have_commits_of_their_own(repository: Path, tmp_path: Path) -> None:
    git("worktree", "add", tmp_path / "linked", cwd=repository)
    git("commit", "--allow-empty", "-m", "later", cwd=tmp_path / "linked")
    git("init", cwd=tmp_path)
    git("submodule", "add", repository, "inner", cwd=tmp_path)

    folders = [repository, tmp_path / "linked", tmp_path / "inner"]
    assert [head_commit(folder) for folder in folders] == [hash_of_head(folder) for folder in folders]


def test_without_a_repository_or_a_commit_there_is_no_hash(tmp_path: Path) -> None:
    assert head_commit(tmp_path) is None

    git("init", cwd=tmp_path)
    assert head_commit(tmp_path) is None


@pytest.mark.parametrize(
    "head", ["", "ref:", "ref: ../../secret", "ref: refs/../../secret", "ref: refs/heads/x\0", "a" * 39]
)
def test_a_head_that_leads_elsewhere_is_not_followed(tmp_path: Path, head: str) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "secret").write_text("b" * 40, encoding="utf-8")
    (tmp_path / "project" / ".git" / "HEAD").write_text(head, encoding="utf-8")

    assert head_commit(tmp_path / "project") is None


@pytest.mark.parametrize("name", [".mcp.json", "a/b.json", "ü" * 80 + "/" + "x" * 150])
def test_a_file_is_tracked_once_it_was_added(repository: Path, name: str) -> None:
    file = repository / name
    other = repository / "other" / name
    for each in (file, other):
        each.parent.mkdir(parents=True, exist_ok=True)
        each.touch()
    git("add", "other", cwd=repository)

    assert (is_tracked(file), is_tracked(other)) == (False, True)
    git("add", ".", cwd=repository)
    assert is_tracked(file)
