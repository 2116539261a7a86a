"""Which commit is compared, with real branches, tags and remotes."""

from pathlib import Path

import pytest

from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused
from pytest_mcp.changed.working_tree import MAX_REF
from tests.support.projects.checkouts import Checkout, without_supervisor

NO_COMMITS = [
    *("", " ", "--help", "-main", "--output=x", "^main", "main..topic", "main...topic", "main:a.py", ":/text", ":a.py"),
    *("HEAD^{/a}", "main\n", "main\nHEAD", "main\0", "main x", "\udcff", "a" * (MAX_REF + 1), "ma*n", "ma[i]n"),
    *("nope", "origin/main", "0" * 40, "HEAD~9", "HEAD^!", "HEAD^{tree}", "HEAD^{blob}", "@{upstream}", "config"),
]


REFS = ["main", "v1", "HEAD~1", "HEAD^", "refs/tags/v1", "@{-1}", "topic@{1}", "v1^{}", "@~1", "größe/1", "hash"]


async def base(checkout: Checkout, ref: str | None = None) -> tuple[str, str]:
    found = await checkout.changed(ref)
    return found.since, found.commit


@pytest.mark.parametrize("ref", REFS)
async def test_a_ref_is_what_git_takes_it_for(checkout: Checkout, ref: str) -> None:
    first = checkout.git("rev-parse", "HEAD").strip()
    checkout.git("tag", "-m", "a tag", "v1")
    checkout.git("branch", "größe/1")
    checkout.git("switch", "--quiet", "-c", "topic")
    checkout.commit(a="")

    ref = first[:8] if ref == "hash" else ref
    assert await base(checkout, ref) == (ref, first)


async def test_what_names_no_commit_is_refused(checkout: Checkout) -> None:
    before = checkout.state()

    for ref in NO_COMMITS:
        with pytest.raises(ChangesRefused) as raised:
            await checkout.changed(ref)

        assert "\n" not in str(raised.value)
    assert checkout.state() == before


@pytest.mark.parametrize("command", ["status", "switch --quiet --detach HEAD~1", "branch --move trunk"])
async def test_on_or_behind_the_default_branch_and_without_one_it_is_head(checkout: Checkout, command: str) -> None:
    checkout.commit(a="")
    checkout.git(*command.split())

    assert await base(checkout) == ("HEAD", checkout.git("rev-parse", "HEAD").strip())


@pytest.mark.parametrize("name", ["main", "master"])
async def test_on_a_branch_it_is_where_the_branch_began(checkout: Checkout, name: str) -> None:
    checkout.git("branch", "--move", name)
    first = checkout.git("rev-parse", "HEAD").strip()
    checkout.git("switch", "--quiet", "-c", "topic")
    checkout.commit(a="")
    checkout.git("switch", "--quiet", name)
    checkout.commit(b="")
    checkout.git("switch", "--quiet", "topic")

    found = await checkout.changed()

    assert (found.since, found.commit) == (name, first)
    assert found.files == {"a.py"}


async def test_in_a_clone_the_default_branch_is_that_of_its_origin(checkout: Checkout, tmp_path: Path) -> None:
    """Also if it is not called main and a main exists, and on the branch itself for what was not pushed."""
    checkout.git("branch", "--move", "trunk")
    clone = Checkout((tmp_path / "clone").resolve())
    checkout.git("clone", "--quiet", checkout.top, clone.top)
    first = clone.git("rev-parse", "HEAD").strip()
    clone.commit(a="")
    clone.git("branch", "main")

    assert await base(clone) == ("origin/HEAD", first)
    checkout.git("branch", "--move", "main")
    clone.git("fetch", "--quiet", "--prune")
    clone.git("remote", "set-head", "origin", "main")
    assert await base(clone) == ("origin/main", first)


async def test_without_a_common_commit_nothing_can_be_told(checkout: Checkout) -> None:
    """As in a shallow clone."""
    checkout.git("switch", "--quiet", "--orphan", "topic")
    checkout.commit(c="")

    with pytest.raises(CannotTell, match="HEAD and main have no common commit"):
        await checkout.changed()


async def test_without_a_commit_nothing_can_be_told_and_no_ref_is_known(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    checkout = Checkout((tmp_path / "project").resolve())
    checkout.git("init", "--quiet")

    with without_supervisor(), pytest.raises(CannotTell, match="no commit yet"):
        await checkout.changed()
    with without_supervisor(), pytest.raises(ChangesRefused):
        await checkout.changed("HEAD")


async def test_a_shallow_clone_is_compared_with_what_it_has(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(a="")
    clone = Checkout((tmp_path / "clone").resolve())
    checkout.git("clone", "--quiet", "--depth=1", checkout.top.as_uri(), clone.top)
    clone.write(b="")

    assert (await clone.changed()).files == {"b.py"}
    with pytest.raises(ChangesRefused):
        await clone.changed("HEAD~1")
