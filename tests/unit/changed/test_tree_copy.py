"""The copy of a tree: complete, private, gone afterwards, and written without any program of the repository."""

import os
from pathlib import Path

import pytest

from pytest_mcp.changed import git_commands, tree_copy
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.changed.tree_copy import copy_of
from tests.support.projects.checkouts import Checkout


def files(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


async def copied(checkout: Checkout, commit: str) -> dict[str, bytes]:
    async with copy_of(await git_commands.open_repository(checkout.config()), commit) as copy:
        return files(copy.tree)


async def test_a_copy_has_every_file_of_the_commit_and_nothing_that_came_later(checkout: Checkout) -> None:
    (checkout.top / "data").mkdir()
    (checkout.top / "data" / "with space\n.bin").write_bytes(bytes(range(256)))
    (checkout.top / "empty").touch()
    commit = checkout.commit(a="a = 2\n")
    expected = files(checkout.top)
    checkout.write(a="a = 3\n", later="later = 1\n")

    assert await copied(checkout, commit) == expected


LINKS = {"inside": "a.py", "sub/up": "../a.py", "sub/top": "..", "sub/again": "top/sub/.//up"}
# The last one: its name alone leads back to the top, but the links on the way are there already.
LINKS_OUT = {"up": "../other", "absolute": "/etc/passwd", "sub/far": "../../a.py", "sub/out": "top/sub/top/../../.."}


async def test_modes_and_links_are_kept_but_no_link_leads_out(checkout: Checkout) -> None:
    (checkout.top / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (checkout.top / "run.sh").chmod(0o755)
    (checkout.top / "sub").mkdir()
    for name, target in (LINKS | LINKS_OUT).items():
        (checkout.top / name).symlink_to(target)
    commit = checkout.commit()

    async with copy_of(await git_commands.open_repository(checkout.config()), commit) as copy:
        tree = copy.tree
        assert os.access(tree / "run.sh", os.X_OK)
        assert not os.access(tree / "a.py", os.X_OK)
        assert {name for name in LINKS | LINKS_OUT if (tree / name).is_symlink()} == {*LINKS}
        assert (tree / "sub" / "up").read_bytes() == (tree / "inside").read_bytes() == b"a = 1\n"
        assert {*copy.left_out} == {*LINKS_OUT}


async def test_what_is_left_out_is_told(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout.top / "large").write_bytes(bytes(100))
    checkout.commit(a="a = 2\n")
    checkout.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    checkout.git("commit", "--quiet", "-m", "submodule")
    monkeypatch.setattr(tree_copy, "BATCH_BYTES", 99)

    async with copy_of(
        await git_commands.open_repository(checkout.config()), checkout.git("rev-parse", "HEAD").strip()
    ) as copy:
        assert {*copy.left_out} == {"large", "vendor"}
        assert {*files(copy.tree)} == {*files(checkout.top)} - {"large"}


async def test_no_filter_and_no_hook_runs_and_nothing_of_the_checkout_changes(checkout: Checkout) -> None:
    trap = checkout.top.parent / "trap"
    checkout.git("config", "filter.trap.smudge", f"touch {trap}; cat")
    hook = checkout.top / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n", encoding="utf-8")
    hook.chmod(0o755)
    (checkout.top / ".gitattributes").write_text("*.py filter=trap export-ignore\n", encoding="utf-8")
    commit = checkout.commit(a="a = 2\n")
    before = checkout.state()

    assert (await copied(checkout, commit))["a.py"] == b"a = 2\n"
    assert checkout.state() == before
    assert not trap.exists()


async def test_a_large_tree_is_read_in_parts(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = checkout.commit(**{f"module_{number}": f"number = {number}\n" for number in range(20)})
    monkeypatch.setattr(tree_copy, "BATCH_BYTES", 40)
    monkeypatch.setattr(tree_copy, "BATCH_FILES", 2)

    assert await copied(checkout, commit) == files(checkout.top)


async def test_a_tree_that_is_too_large_is_not_copied(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = checkout.commit(a="a = 2\n")
    monkeypatch.setattr(tree_copy, "MAX_BYTES", 10)

    with pytest.raises(CannotTell, match="larger than"):
        await copied(checkout, commit)
