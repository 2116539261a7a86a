"""How git is found and asked, and what it means if it does not answer. `tests/hostile` has more."""

from pathlib import Path

import pytest

from pytest_mcp.changed import git_commands, working_tree
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused
from pytest_mcp.config.model import Options, configure
from tests.support.projects.checkouts import Checkout, new_checkout
from tests.support.projects.managed import Home


async def test_a_folder_outside_every_repository_is_refused(tmp_path: Path) -> None:
    config = configure(Options(root=str(tmp_path)), {"PATH": "/usr/bin:/bin"})

    with pytest.raises(ChangesRefused, match="needs a git repository"):
        await working_tree.since_ref(config, None)


async def test_a_machine_without_git_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    with pytest.raises(ChangesRefused, match="needs git, and git is not on the PATH of the server"):
        await checkout.changed(PATH=str(tmp_path))


async def test_a_folder_that_is_only_called_like_a_repository_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    for folder in (tmp_path / "empty", checkout.top / "inner"):
        (folder / ".git").mkdir(parents=True)

    with pytest.raises(
        ChangesRefused, match="needs a repository that git reads; git said: fatal: not a git repository"
    ):
        await Checkout((tmp_path / "empty").resolve()).changed()
    with pytest.raises(ChangesRefused, match="needs a repository of its own"):
        await checkout.changed(root="inner")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "git was ended by SIGKILL"),
        ("head -c 2000 /dev/zero", "git listed more than 0 MiB of files"),
        ("case $* in *show-toplevel*) pwd;; esac", "git gave an answer that could not be read"),
    ],
)
async def test_a_git_that_gives_no_answer_tells_nothing(
    tmp_path: Path, home: Home, script: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = new_checkout(tmp_path / "project")
    monkeypatch.setattr(git_commands, "MAX_OUTPUT", 1000)
    home.program("git", script)

    with pytest.raises(CannotTell, match=reason):
        await checkout.changed(**home.environment)


async def test_unknown_objects_tell_nothing(checkout: Checkout) -> None:
    tree = checkout.git("rev-parse", "HEAD^{tree}").strip()
    (checkout.top / ".git" / "objects" / tree[:2] / tree[2:]).unlink()

    with pytest.raises(CannotTell, match="git said: "):
        await checkout.changed()


async def test_commits_of_a_branch_from_before_the_known_one_was_merged_do_not_come_after_it(
    checkout: Checkout,
) -> None:
    checkout.git("checkout", "--quiet", "-b", "feature")
    checkout.commit(c="c = 1\n")
    checkout.git("checkout", "--quiet", "main")
    known = checkout.commit(a="a = 2\n")
    checkout.git("checkout", "--quiet", "-b", "between", "main~1")
    checkout.commit(d="d = 1\n")
    checkout.git("merge", "--quiet", "--no-ff", "-m", "known", "main")
    checkout.git("checkout", "--quiet", "feature")
    checkout.git("merge", "--quiet", "--no-ff", "-m", "between", "between")
    merge, last = checkout.git("rev-parse", "HEAD").strip(), checkout.commit(c="c = 2\n")

    opened = await git_commands.open_repository(checkout.config())

    assert await opened.first_parents(last, known, 10) == [last, merge]
