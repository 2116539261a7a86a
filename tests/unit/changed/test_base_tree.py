"""The tree of the base: what is in it, that nothing of the checkout changes, and that it is gone afterwards."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.changed import base_tree, git_commands, listings
from pytest_mcp.changed.git_commands import CannotTell, Repository
from pytest_mcp.changed.tree_copy import SizeLimit, TreeCopy, in_slices
from pytest_mcp.changed.working_tree import resolve
from tests.support.projects.checkouts import Checkout, new_checkout
from tests.support.projects.project_files import write_files
from tests.support.waiting import until


def listing(top: Path) -> dict[str, tuple[object, ...]]:
    """Everything that a write would change, but not what a mere reading does."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(top.rglob("*")):
        seen = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        facts = (seen.st_ino, seen.st_mode, seen.st_nlink, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        found[str(path.relative_to(top))] = (*facts, content)
    return found


def files(top: Path) -> dict[str, bytes]:
    paths = [path for path in top.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(top)): path.read_bytes() for path in paths}


async def repository(checkout: Checkout) -> Repository:
    return await git_commands.open_repository(checkout.config())


async def at_base(checkout: Checkout, ref: str = "HEAD") -> dict[str, bytes]:
    opened = await repository(checkout)
    async with base_tree.base_tree(opened, await resolve(opened, ref)) as tree:
        return files(tree.top)


async def test_only_what_changed_is_put_back_and_all_else_is_there(checkout: Checkout) -> None:
    write_files(checkout.top, {".gitignore": "*.local\nmade/\n", "same.py": "same", "gone.py": "gone", "sub/x": "x"})
    checkout.commit(a="a = 2\n")
    expected = files(checkout.top)
    kept = {"settings.local": "ignored", "made/code.py": "generated", "data.json": "untracked"}
    write_files(checkout.top, kept)
    write_files(checkout.top, {"new/__init__.py": "", "new/code.py": "", "conftest.py": "", "a.py": "a = 3\n"})
    checkout.git("add", "new")
    (checkout.top / "gone.py").unlink()
    (checkout.top / "sub" / "x").unlink()
    (checkout.top / "sub").rmdir()
    (checkout.top / "sub").symlink_to("/nowhere")

    opened = await repository(checkout)
    async with base_tree.base_tree(opened, await resolve(opened, "HEAD")) as tree:
        assert files(tree.top) == expected | {name: text.encode() for name, text in kept.items()}
        assert not (tree.top / "new").exists()
        assert (tree.removed, tree.kept) == (("conftest.py",), ("data.json", "sub"))


async def test_only_chosen_paths_are_put_back_and_a_plain_copy_has_them_all(checkout: Checkout) -> None:
    checkout.write(a="a = 3\n", b="b = 3\n", test_new="new\n")
    opened = await repository(checkout)

    async with base_tree.base_tree(opened, await resolve(opened, "HEAD"), lambda path, _: path == "a.py") as tree:
        assert files(tree.top) == {"a.py": b"a = 1\n", "b.py": b"b = 3\n", "test_new.py": b"new\n"}
    async with base_tree.plain_copy(opened) as tree:
        assert files(tree.top) == files(checkout.top)


async def test_filters_decide_what_a_file_is_as_in_the_checkout(checkout: Checkout) -> None:
    """As git-lfs does: git stores something else, and the filter has the content in a folder of the repository."""
    store = checkout.top / ".git" / "lfs"
    store.mkdir()
    checkout.git("config", "filter.kept.clean", f"tee {store}/content | wc -c")
    checkout.git("config", "filter.kept.smudge", "cat >/dev/null; cat .git/lfs/content")
    checkout.git("config", "filter.kept.required", "true")
    write_files(checkout.top, {".gitattributes": "*.bin filter=kept\n*.txt eol=crlf\n", "a.bin": "first"})
    (checkout.top / "text.txt").write_bytes(b"a\r\nb\r\n")
    checkout.commit()
    expected = files(checkout.top)
    write_files(checkout.top, {"text.txt": "changed", ".gitattributes": ""})
    (checkout.top / "a.bin").unlink()
    before = listing(checkout.top)

    assert await at_base(checkout) == expected
    assert listing(checkout.top) == before


async def test_nothing_of_the_checkout_changes_even_if_the_copy_is_written_to(checkout: Checkout) -> None:
    write_files(checkout.top, {"same.txt": "same", "made.local": "made", ".gitignore": "*.local\n"})
    (checkout.top / "absolute").symlink_to(checkout.top / "made.local")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        write_files(checkout.top, {f".git/hooks/{hook}": f"#!/bin/sh\ntouch {checkout.top}/hooked\n"})
        (checkout.top / ".git" / "hooks" / hook).chmod(0o755)
    checkout.commit(a="a = 2\n")
    (checkout.top / "hooked").unlink(missing_ok=True)
    checkout.write(a="a = 3\n", b="b = 3\n")
    checkout.git("add", "b.py")
    before = listing(checkout.top)
    opened = await repository(checkout)

    async with base_tree.base_tree(opened, await resolve(opened, "HEAD~1")) as tree:
        for path in tree.top.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                path.write_text("overwritten")
        inside = Checkout(tree.top)
        inside.git("config", "core.hooksPath", "/dev/null")
        inside.git("commit", "--quiet", "--all", "-m", "in the copy")
        inside.git("gc", "--quiet", "--prune=now")

    assert listing(checkout.top) == before
    assert not tree.top.exists()


async def test_a_repository_whose_parts_are_links_to_another_is_not_written_to(checkout: Checkout) -> None:
    """As `git-new-workdir` makes them."""
    base = checkout.git("rev-parse", "HEAD").strip()
    checkout.commit(a="a = 2\n")
    linked = Checkout(checkout.top.parent / "linked")
    (linked.top / ".git" / "logs").mkdir(parents=True)
    for name in ("config", "refs", "logs/refs", "objects", "info", "hooks", "packed-refs"):
        (linked.top / ".git" / name).symlink_to(checkout.top / ".git" / name)
    (linked.top / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    linked.git("reset", "--hard")
    before = listing(checkout.top), listing(linked.top)

    opened = await repository(linked)
    async with base_tree.base_tree(opened, await resolve(opened, "HEAD~1")) as tree:
        inside = Checkout(tree.top)
        assert inside.git("rev-parse", "HEAD").strip() == base
        inside.git("config", "user.name", "in the copy")
        inside.git("pack-refs", "--all")

    assert (listing(checkout.top), listing(linked.top)) == before


WORKTREE = "a linked worktree"


@pytest.mark.parametrize("kind", ["the main checkout", WORKTREE])
async def test_to_git_the_copy_is_a_checkout_of_the_base(checkout: Checkout, kind: str) -> None:
    base = checkout.git("rev-parse", "HEAD").strip()
    checkout.commit(c="c = 1\n")
    top = checkout
    if kind == WORKTREE:
        top = Checkout(checkout.top.parent / "linked")
        checkout.git("worktree", "add", "--quiet", "-b", "feature", top.top)
    top.write(a="a = 2\n")
    branch = top.git("branch", "--show-current")
    before = listing(checkout.top)

    opened = await repository(top)
    async with base_tree.base_tree(opened, await resolve(opened, "HEAD~1")) as tree:
        inside = Checkout(tree.top)
        assert inside.git("rev-parse", "HEAD").strip() == base
        assert inside.git("status", "--porcelain") == ""
        assert inside.git("ls-files").split() == ["a.py", "b.py"]
        assert inside.git("branch", "--show-current") == branch
        assert inside.git("rev-parse", "--show-toplevel").strip() == str(tree.top)
        assert str(top.top) not in inside.git("worktree", "list")

    assert listing(checkout.top) == before


async def test_a_submodule_is_there_unless_it_changed(checkout: Checkout) -> None:
    inner = new_checkout(checkout.top.parent / "inner")
    checkout.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.top, "inner")
    checkout.commit()
    checkout.write(a="a = 2\n")

    assert (await at_base(checkout))["inner/a.py"] == b"a = 1\n"
    Checkout(checkout.top / "inner").commit(a="a = 2\n")
    with pytest.raises(CannotTell, match="submodule inner changed"):
        await at_base(checkout)


APART = {
    ".venv/pyvenv.cfg": "",
    ".venv/lib/site.py": "",
    "node_modules/x.js": "",
    "pkg/__pycache__/x.pyc": "",
    "linked/.git": "gitdir: /nowhere",
    "linked/a.py": "",
}


async def test_environments_caches_and_linked_worktrees_are_not_copied_unless_git_tracks_them(
    checkout: Checkout,
) -> None:
    write_files(checkout.top, {"vendor/node_modules/kept.js": "kept"})
    checkout.git("add", "--force", "vendor")
    checkout.commit()
    expected = files(checkout.top)
    write_files(checkout.top, APART)

    opened = await repository(checkout)
    async with base_tree.plain_copy(opened) as tree:
        assert files(tree.top) == expected
        assert tree.left_out == ()


async def copied(checkout: Checkout, tree: Path, **room: Any) -> TreeCopy:
    tracked = listings.parse_index(await (await repository(checkout)).tracked())
    copy = TreeCopy(checkout.top, tree, {os.fsdecode(path): file for path, file in tracked.items()}, **room)
    await in_slices(copy.steps())
    return copy


async def test_what_is_too_large_and_not_tracked_is_left_out_and_named(checkout: Checkout, tmp_path: Path) -> None:
    large = {f"data/{number}": "x" * 40 for number in range(3)}
    write_files(checkout.top, {".gitignore": "", "small/1": "x", "large": "x" * 101, **large})

    copy = await copied(checkout, tmp_path / "bytes", room_for_untracked=SizeLimit(100, 10))

    assert {*copy.left_out} == {"data", "large"}
    assert {*files(tmp_path / "bytes")} == {"a.py", "b.py", ".gitignore", "small/1"}


async def test_a_checkout_that_is_too_large_is_not_copied(checkout: Checkout, tmp_path: Path) -> None:
    with pytest.raises(CannotTell, match="too large"):
        await copied(checkout, tmp_path / "copy", room=SizeLimit(1000, 1))


LINKS = {"inside": "a.py", "sub/up": "../a.py", "sub/top": "..", "absolute": "{top}/a.py", "dangling": "nowhere"}
LINKS_OUT = {"up": "../other", "etc": "/etc/hostname", "sub/out": "top/sub/top/../../.."}


async def test_links_lead_to_the_copy_or_to_where_they_led(checkout: Checkout) -> None:
    for name, target in (LINKS | LINKS_OUT).items():
        (checkout.top / name).parent.mkdir(exist_ok=True)
        (checkout.top / name).symlink_to(target.format(top=checkout.top))
    (checkout.top / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (checkout.top / "run.sh").chmod(0o755)
    checkout.commit()

    async with base_tree.plain_copy(await repository(checkout)) as tree:
        for name in LINKS:
            led = os.path.realpath(checkout.top / name).replace(str(checkout.top), str(tree.top))
            assert os.path.realpath(tree.top / name) == led
        for name in LINKS_OUT:
            assert os.path.realpath(tree.top / name) == os.path.realpath(checkout.top / name)
        assert os.access(tree.top / "run.sh", os.X_OK)


KEEPING = """
import sys, anyio
from pathlib import Path
from pytest_mcp.changed import base_tree, git_commands
from pytest_mcp.config.model import Options, configure

async def keep():
    opened = await git_commands.open_repository(configure(Options(root=sys.argv[1]), {"PATH": "/usr/bin:/bin"}))
    async with base_tree.plain_copy(opened) as tree:
        print(tree.top, flush=True)
        await anyio.sleep_forever()

anyio.run(keep)
"""


async def test_a_killed_server_leaves_no_copy(checkout: Checkout) -> None:
    with subprocess.Popen([sys.executable, "-c", KEEPING, checkout.top], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        tree = Path(server.stdout.readline().strip())
        assert (tree / "a.py").exists()
        server.kill()

    await until(lambda: not tree.parent.exists())


async def test_nothing_is_written_or_removed_behind_a_link(checkout: Checkout, tmp_path: Path) -> None:
    write_files(checkout.top, {"sub/x.py": "x", "sub/y.py": "y"})
    checkout.commit()
    outside = write_files(tmp_path / "outside", {"x.py": "outside", "z.py": "outside"})
    for name in ("x.py", "y.py"):
        (checkout.top / "sub" / name).unlink()
    (checkout.top / "sub").rmdir()
    (checkout.top / "sub").symlink_to(outside)
    before = listing(outside)

    assert (await at_base(checkout))["sub/x.py"] == b"x"
    assert listing(outside) == before
