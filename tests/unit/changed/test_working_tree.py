"""What changed, with the real git as the oracle."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CalledProcessError

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mcp.changed import working_tree
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.config.model import History
from tests.support.projects.checkouts import Checkout, new_checkout, without_supervisor

NAMES = ("a.py", "b.py", "c d.py", "é.py", "sub/e.py", "sub", "ignored.log", ".gitattributes")
CONTENTS = ("", "a = 1\n", "A = 1\n", "a = 2\n", "x\r\ny\n", "x\ny\n", "$Id$\n")
# What stands in the working tree is lower case, what git stores is upper case.
FILTER = ("filter.loud.clean=tr a-z A-Z", "filter.loud.smudge=tr A-Z a-z", "filter.loud.required=true")
ATTRIBUTES = ("*.py filter=loud", "*.py text eol=crlf", "*.py text=auto", "*.py ident", "sub/* -text", "*.py binary")
Step = tuple[str, str, str]
Test = Callable[..., None]


def delete(checkout: Checkout, name: str, _: str) -> None:
    path = checkout.top / name
    if path.is_symlink() or path.is_file():
        path.unlink()


def write(checkout: Checkout, name: str, content: str) -> None:
    path = checkout.top / name
    if path.is_dir() or (path.parent.exists() and not path.parent.is_dir()):
        return
    delete(checkout, name, "")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode())


def link(checkout: Checkout, name: str, target: str) -> None:
    write(checkout, name, "")
    if (checkout.top / name).is_file():
        delete(checkout, name, "")
        (checkout.top / name).symlink_to(target or ".")


def rename(checkout: Checkout, name: str, _: str) -> None:
    if (checkout.top / name).is_file() and not (checkout.top / "sub").is_file():
        (checkout.top / "sub").mkdir(exist_ok=True)
        (checkout.top / name).replace(checkout.top / "sub" / "moved.py")


def touch(checkout: Checkout, name: str, _: str) -> None:
    if (checkout.top / name).is_file():
        os.utime(checkout.top / name, ns=(1, 1))


def make_executable(checkout: Checkout, name: str, _: str) -> None:
    if (checkout.top / name).is_file() and not (checkout.top / name).is_symlink():
        (checkout.top / name).chmod(0o755)


def nest(checkout: Checkout, _: str, __: str) -> None:
    """A repository inside: a submodule, if everything is staged afterwards."""
    if not (checkout.top / "nested").exists():
        new_checkout(checkout.top / "nested")


def work_inside(checkout: Checkout, _: str, content: str) -> None:
    if (checkout.top / "nested").exists():
        Checkout(checkout.top / "nested").write(a=content)


def attribute(checkout: Checkout, _: str, content: str) -> None:
    chosen = ATTRIBUTES[CONTENTS.index(content) % len(ATTRIBUTES)]
    (checkout.top / ".gitattributes").write_text(f"{chosen}\n", encoding="utf-8")


def convert_line_ends(checkout: Checkout, _: str, content: str) -> None:
    checkout.git("config", "core.autocrlf", ["true", "false", "input"][len(content) % 3])


GIT_STEPS = {
    "stage": "add -- NAME",
    "stage all": "add --all",
    "unstage": "reset --quiet -- NAME",
    "forget": "rm --quiet --cached -- NAME",
    "intend": "add --intent-to-add -- NAME",
    "skip": "update-index --skip-worktree -- NAME",
    "assume unchanged": "update-index --assume-unchanged -- NAME",
    "restore": "checkout -- NAME",
    "commit": "commit --quiet --allow-empty -m more",
    "ignore modes": "config core.fileMode false",
    "sparse": "sparse-checkout set --sparse-index sub",
    "split": "update-index --split-index",
    "version 4": "update-index --index-version 4",
}
STEPS: dict[str, Callable[[Checkout, str, str], None]] = {
    "write": write,
    "delete": delete,
    "rename": rename,
    "link": link,
    "touch": touch,
    "chmod": make_executable,
    "nest": nest,
    "work inside": work_inside,
    "attribute": attribute,
    "convert line ends": convert_line_ends,
    "no index": lambda checkout, _, __: (checkout.top / ".git" / "index").unlink(missing_ok=True),
}


def perform(checkout: Checkout, step: str, name: str, content: str) -> None:
    if step in STEPS:
        STEPS[step](checkout, name, content)
    else:
        checkout.git(*(word.replace("NAME", name) for word in GIT_STEPS[step].split()), check=False)


def always(*steps: Step, ref: str = "HEAD", root: str = ".") -> Callable[[Test], Test]:
    return example(steps=[*steps], ref=ref, root=root)


def told_by_git(checkout: Checkout, ref: str) -> set[str]:
    differing = checkout.git("diff", "--no-renames", "--name-only", "-z", ref).split("\0")
    status = checkout.git("status", "--porcelain=v2", "--untracked-files=all", "-z").split("\0")
    untracked = [record[2:].removesuffix("/") for record in status if record.startswith("? ")]
    unmerged = [record.split(" ", 10)[-1] for record in status if record.startswith("u ")]
    submodules = [record.split(" ", 8)[-1] for record in status if re.match(r"1 .. S(?!\.\.\.)", record)]
    return {path for path in (*differing, *untracked, *unmerged, *submodules) if path}


def written(checkout: Checkout, steps: list[Step]) -> dict[str, tuple[int, int, bytes]]:
    """Whenever git reads it, it renews the time stamp of a shared index, and may need the trees of a sparse one."""
    found = checkout.state()
    if "sparse" in {step for step, _, __ in steps}:
        found = {name: each for name, each in found.items() if not name.startswith(".git/objects")}
    return {name: (mode, 0 if "sharedindex" in name else time, data) for name, (mode, time, data) in found.items()}


@settings(max_examples=settings.default.max_examples // 2 if settings.default else 15)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(sorted(STEPS | GIT_STEPS)), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
        max_size=12,
    ),
    ref=st.sampled_from(["first", "HEAD"]),
    root=st.sampled_from([".", "inner"]),
)
@always()
@always(("forget", "a.py", ""))
@always(("rename", "a.py", ""))
@always(("chmod", "a.py", ""))
@always(("ignore modes", "", ""), ("chmod", "a.py", ""))
@always(("write", "a.py", "a = 1\r\n"))
@always(("convert line ends", "", "a = 1\n"), ("write", "a.py", "a = 1\r\n"))
@always(("attribute", "", "a = 1\n"), ("write", "a.py", "a = 1\r\n"))
@always(("skip", "a.py", ""), ("write", "a.py", "a = 2\n"))
@always(("assume unchanged", "a.py", ""), ("write", "a.py", "a = 2\n"))
@always(("write", "a.py", "a = 2\n"), ("stage", "a.py", ""), ("write", "a.py", "a = 1\n"))
@always(("delete", "a.py", ""), ("write", "sub/e.py", ""), ("link", "a.py", "sub/e.py"))
@always(("write", "a.py", "a = 1\n"), ("attribute", "", ""), ("stage all", "", ""))
@always(("nest", "", ""))
@always(("nest", "", ""), ("stage all", "", ""), ("work inside", "", "a = 2\n"))
@always(("split", "", ""), ("touch", "b.py", ""), ("write", "a.py", "a = 2\n"), ref="first", root="inner")
@always(("sparse", "", ""))
@always(("sparse", "", ""), ("write", "a.py", "a = 2\n"), ref="first")
@always(("split", "", ""), ("sparse", "", ""), ref="first")
def test_what_changed_is_what_git_says_and_nothing_is_written(steps: list[Step], ref: str, root: str) -> None:
    with tempfile.TemporaryDirectory() as folder, without_supervisor():
        checkout = new_checkout(Path(folder, "project"))
        checkout.commit(**{"inner/c": "", "sub/d": ""})
        checkout.git("tag", "first")
        for setting in FILTER:
            checkout.git("config", *setting.split("=", 1))
        (checkout.top / ".git" / "info" / "exclude").write_text("*.log\n", encoding="utf-8")
        for step, name, content in steps:
            perform(checkout, step, name, content)
        root = root if (checkout.top / root).is_dir() else "."
        before = written(checkout, steps)
        try:
            found = anyio.run(checkout.changed, ref, root)
        except CannotTell:
            # As after some of these steps: git 2.39 has bugs with sparse indexes.
            with pytest.raises(CalledProcessError):
                told_by_git(checkout, ref)
            return

        assert written(checkout, steps) == before
        prefix = "" if root == "." else f"{root}/"
        assert {prefix + file for file in found.files} | found.outside == told_by_git(checkout, ref)


async def test_paths_are_relative_to_the_root_and_the_others_to_the_top(checkout: Checkout) -> None:
    checkout.commit(**{"inner/c": "", "inner/d": ""})
    checkout.write(**{"a": "", "inner/c": "c = 1\n", "inner/deep/e": ""})

    found = await checkout.changed("HEAD", root="inner")

    assert found.files == {"c.py", "deep/e.py"}
    assert found.outside == {"a.py"}


async def test_the_history_is_no_change_and_a_file_with_a_longer_name_is(checkout: Checkout) -> None:
    names = ["history.db", "history.db-wal", "history.db-shm", "history.db-journal", "history.db.txt"]
    for name in names:
        (checkout.top / name).write_text("", encoding="utf-8")
    config = checkout.config()._replace(history=History(str(checkout.top / "history.db")))

    assert (await working_tree.since_ref(config, "HEAD")).changes.files == {"history.db.txt"}
    assert (await checkout.changed("HEAD")).files == set(names)


async def test_what_the_command_itself_writes_is_no_change(checkout: Checkout) -> None:
    for name in ("out.xml", "other.xml"):
        (checkout.top / name).touch()
    config = checkout.config()._replace(outputs=(str(checkout.top / "out.xml"), "/elsewhere/page.html"))

    assert (await working_tree.since_ref(config, "HEAD")).changes.files == {"other.xml"}


async def test_nothing_can_be_told_of_a_root_that_git_ignores(checkout: Checkout) -> None:
    """Its files would all seem unchanged, however they change."""
    checkout.write(**{"build/c": ""})
    (checkout.top / ".gitignore").write_text("build/\n", encoding="utf-8")

    with pytest.raises(CannotTell, match="tracks no file"):
        await checkout.changed("HEAD", root="build")


async def test_a_clean_checkout_with_a_filter_has_no_changes(checkout: Checkout) -> None:
    """As with git-lfs: what git stores is not what stands in the file."""
    for setting in FILTER:
        checkout.git("config", *setting.split("=", 1))
    (checkout.top / ".gitattributes").write_text("*.bin filter=loud\n", encoding="utf-8")
    (checkout.top / "large.bin").write_text("content\n", encoding="utf-8")
    checkout.commit()

    assert checkout.git("show", "HEAD:large.bin") == "CONTENT\n"
    assert await checkout.files() == set()
    os.utime(checkout.top / "large.bin", ns=(1, 1))
    assert await checkout.files() == set()
    (checkout.top / "large.bin").write_text("changed\n", encoding="utf-8")
    assert await checkout.files() == {"large.bin"}


async def test_settings_of_git_status_and_git_diff_do_not_matter(checkout: Checkout) -> None:
    checkout.write(a="a = 2\n")
    checkout.git("stash")
    for name in ("showStash", "branch", "short", "relativePaths", "submoduleSummary"):
        checkout.git("config", f"status.{name}", "true")
    checkout.git("config", "status.showUntrackedFiles", "no")
    checkout.git("config", "diff.autoRefreshIndex", "false")
    checkout.git("config", "color.ui", "always")
    checkout.write(new="")
    os.utime(checkout.top / "a.py", ns=(1, 1))

    assert await checkout.files() == {"new.py"}


async def test_a_change_that_leaves_size_and_times_as_they_were_is_seen(checkout: Checkout) -> None:
    """git reads such a file if the index is not newer. So the copy of the index must not be newer either."""
    file, index = checkout.top / "a.py", checkout.top / ".git" / "index"
    checkout.git("config", "core.trustctime", "false")
    stamp = file.stat().st_mtime_ns
    with file.open("r+", encoding="utf-8") as opened:
        opened.write("a = 3\n")
    for path in (file, index):
        os.utime(path, ns=(stamp, stamp))

    assert await checkout.files() == {"a.py"}


async def test_a_file_with_a_conflict_is_changed(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "-c", "other")
    checkout.commit(a="a = 2\n")
    checkout.git("switch", "--quiet", "main")
    checkout.commit(a="a = 3\n")
    checkout.git("merge", "other", check=False)
    checkout.write(a="a = 3\n")

    assert await checkout.files() == {"a.py"}


class TestSubmodules:
    @pytest.fixture
    def inner(self, checkout: Checkout, tmp_path: Path) -> Checkout:
        """A submodule of the checkout."""
        origin = new_checkout(tmp_path / "origin")
        checkout.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.top, "inner")
        checkout.commit()
        return Checkout(checkout.top / "inner")

    async def test_one_that_is_clean_or_not_checked_out_is_unchanged(self, checkout: Checkout, inner: Checkout) -> None:
        assert await checkout.files() == set()
        checkout.git("submodule", "--quiet", "deinit", "inner")
        assert list(inner.top.iterdir()) == []
        assert await checkout.files() == set()

    async def test_one_with_a_changed_a_new_or_a_committed_file_is_one_changed_path(
        self, checkout: Checkout, inner: Checkout
    ) -> None:
        before = inner.state()

        inner.write(a="a = 2\n")
        assert await checkout.files() == {"inner"}
        inner.git("checkout", "--", ".")
        inner.write(new="")
        assert await checkout.files() == {"inner"}
        inner.commit()
        assert await checkout.files() == {"inner"}
        assert before.keys() <= inner.state().keys()

    async def test_its_folder_without_it_is_changed_and_a_repository_that_cannot_be_read_tells_nothing(
        self, checkout: Checkout, inner: Checkout
    ) -> None:
        (inner.top / ".git").write_text("gitdir: /nonexistent\n", encoding="utf-8")
        with pytest.raises(CannotTell):
            await checkout.files()

        inner.top.rename(checkout.top.parent / "elsewhere")
        assert await checkout.files() == {"inner"}
