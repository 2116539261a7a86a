"""What a repository can bring that makes git start programs: asking what changed starts none but filters.

Nothing of the repository changes.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import anyio
import pytest

from pytest_mcp.changed import git_commands, working_tree
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused
from tests.support.projects.checkouts import Checkout, new_checkout, without_supervisor
from tests.support.projects.managed import Home, empty_home
from tests.support.waiting import PATIENCE, processes_in

# With a credential in a question to git, it asks the repository's helpers.
CREDENTIAL = b"protocol=https\nhost=host.invalid\n\n"
# A blob that HEAD's tree names and the repository lacks.
ABSENT = "1" * 40


class Trap:
    """A checkout with changes, and a program that notes that it was started."""

    def __init__(self, folder: Path) -> None:
        self.checkout = new_checkout(folder / "project")
        self.canary = folder / "started"
        self.program = folder / "project" / ".git" / "evil"
        self.program.write_text(f'#!/bin/sh\necho "$0" >> {self.canary}\nexit 1\n', encoding="utf-8")
        self.program.chmod(0o755)

    def configure(self, *settings: str) -> None:
        """A setting without a value is the program."""
        for setting in settings:
            name, _, value = setting.partition("=")
            value = value.format(program=self.program, top=self.checkout.top) or str(self.program)
            self.checkout.git("config", name, value)

    def attributes(self, line: str) -> None:
        (self.checkout.top / ".gitattributes").write_text(f"{line}\n", encoding="utf-8")

    def submodule(self) -> Checkout:
        """One with a change inside, and a file that was only touched: git would note that in its index."""
        inner = new_checkout(self.checkout.top / "inner")
        self.checkout.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
        self.checkout.git("commit", "--quiet", "-m", "submodule")
        inner.write(a="a = 2\n")
        os.utime(inner.top / "b.py", ns=(1, 1))
        return inner

    def hook(self, folder: str, name: str) -> None:
        path = self.checkout.top / ".git" / folder / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy2(self.program, path)

    def partial_clone(self, *settings: str) -> None:
        """Its tree names a blob that has to be fetched."""
        self.checkout.git("update-index", "--add", "--cacheinfo", f"100644,{ABSENT},lacking.py")
        tree = self.checkout.git("write-tree", "--missing-ok").strip()
        self.checkout.git("update-ref", "HEAD", self.checkout.git("commit-tree", "-m", "lacking", tree).strip())
        self.configure(
            "core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"
        )
        self.configure(*settings)


Plant = Callable[[Trap], None]


def configured(*settings: str, attributes: str | None = None) -> Plant:
    def plant(trap: Trap) -> None:
        if attributes is not None:
            trap.attributes(attributes)
        trap.configure(*settings)

    return plant


def lacking(url: str, *settings: str) -> Plant:
    """A blob is missing, and git would fetch it from there."""
    return lambda trap: trap.partial_clone(f"remote.origin.url={url}", *settings)


def fsmonitor_hook(trap: Trap) -> None:
    trap.hook("hooks", "query-watchman")
    trap.configure("core.fsmonitor=.git/hooks/query-watchman")


def included(trap: Trap) -> None:
    extra = trap.checkout.top / "settings"
    extra.write_text(f"[core]\nfsmonitor = {trap.program}\n", encoding="utf-8")
    trap.configure("include.path=../settings")


def diff_of_submodules(trap: Trap) -> None:
    trap.submodule()
    trap.configure("diff.submodule=diff", "diff.external")


def in_submodule(trap: Trap) -> None:
    """git looks at it with another git, for which the same must hold."""
    inner = trap.submodule()
    inner.git("config", "core.fsmonitor", str(trap.program))
    inner.git("config", "diff.external", str(trap.program))
    hooks = Path(inner.git("rev-parse", "--absolute-git-dir").strip(), "hooks")
    hooks.mkdir(exist_ok=True)
    shutil.copy2(trap.program, hooks / "post-index-change")


def split_index(trap: Trap) -> None:
    trap.configure("core.splitIndex=true", "splitIndex.maxPercentChange=0", "core.fsmonitor")
    trap.checkout.git("update-index", "--split-index")


def order_file(trap: Trap) -> None:
    os.mkfifo(trap.checkout.top / ".git" / "order")
    trap.configure("diff.orderFile=.git/order", "diff.external")


def hook(trap: Trap) -> None:
    trap.hook("hooks", "post-index-change")


def hooks_path(trap: Trap) -> None:
    trap.hook("traps", "post-index-change")
    trap.configure("core.hooksPath={top}/.git/traps")


# One of git's own commands cannot be replaced.
ALIASES = ("rev-parse", "diff", "status", "ls-tree", "cat-file", "merge-base", "evil")
STATUS, DIFF, SHOW = ("status",), ("diff",), ("cat-file", "-p", ABSENT)
SIMPLE: dict[str, tuple[Plant, tuple[str, ...] | None]] = {
    "fsmonitor": (configured("core.fsmonitor"), STATUS),
    "external diff": (configured("diff.external"), DIFF),
    "diff driver": (configured("diff.evil.command", attributes="*.py diff=evil"), DIFF),
    "hook": (hook, ("add", ".")),
    "hooks path": (hooks_path, ("add", ".")),
    "alias": (configured(*(f"alias.{name}=!{{program}}" for name in ALIASES)), ("evil",)),
    "pager": (configured("core.pager", "pager.diff", "pager.status", "pager.ls-tree", "pager.rev-parse"), None),
    "credential helper": (configured("credential.helper"), ("credential", "fill")),
}
# What starts the program, as far as something does without a terminal: the trap is a real one.
TRAPS: dict[str, tuple[Plant, tuple[str, ...] | None]] = {
    **SIMPLE,
    "fsmonitor hook": (fsmonitor_hook, STATUS),
    "included": (included, STATUS),
    # It would run only if git wrote files.
    "smudge": (configured("filter.evil.smudge", attributes="*.py filter=evil"), ("checkout", "--", "a.py")),
    "diff of submodules": (diff_of_submodules, DIFF),
    "in submodule": (in_submodule, STATUS),
    "split index": (split_index, STATUS),
    "order file": (order_file, None),
    "textconv": (configured("diff.evil.textconv", attributes="*.py diff=evil"), DIFF),
    "ssh": (lacking("ssh://host.invalid/x", "core.sshCommand"), SHOW),
    "upload pack": (lacking("{top}", "remote.origin.uploadpack"), SHOW),
    "remote helper": (lacking("ext::{program}", "protocol.ext.allow=always", "protocol.allow=always"), SHOW),
    "pack objects": (lacking("{top}", "uploadpack.packObjectsHook"), None),
    "ask pass": (configured("core.askPass"), ("credential", "fill")),
    "signatures": (
        configured("gpg.program", "log.showSignature=true", "commit.gpgSign=true"),
        ("commit", "--allow-empty", "-m", "signed"),
    ),
}


def unwritten(state: dict[str, tuple[int, int, bytes]]) -> dict[str, tuple[int, int, bytes]]:
    """git renews the time stamp of a split index's shared file whenever it reads one."""
    return {name: (mode, 0 if "sharedindex" in name else at, data) for name, (mode, at, data) in state.items()}


@pytest.fixture
def directly() -> Iterator[None]:
    with without_supervisor():
        yield


@pytest.mark.usefixtures("directly")
@pytest.mark.parametrize("name", TRAPS)
async def test_a_program_that_the_repository_names_is_not_started(name: str, tmp_path: Path) -> None:
    plant, trigger = TRAPS[name]
    trap = Trap(tmp_path)
    plant(trap)
    # Of the same size: only its content says that it changed. Planting may have started the program already.
    trap.checkout.write(a="a = 2\n", new="")
    trap.canary.unlink(missing_ok=True)
    before = trap.checkout.state()

    files = await trap.checkout.files()
    # The lines of the change are asked for with coverage of changed lines, and need the contents of blobs.
    with suppress(CannotTell):
        await working_tree.since_ref(trap.checkout.config(), "HEAD", lines=True)

    assert {"a.py", "new.py"} <= files
    assert "b.py" not in files
    assert not trap.canary.exists()
    assert unwritten(trap.checkout.state()) == unwritten(before)
    if trigger is not None:
        trap.checkout.git(*trigger, given=CREDENTIAL, check=False)
        assert trap.canary.exists()


async def test_nothing_is_started_by_a_supervised_git_either(tmp_path: Path) -> None:
    """All traps at once that leave the repository readable, and the real way to git."""
    trap = Trap(tmp_path / "größe")
    for plant, _ in SIMPLE.values():
        plant(trap)
    trap.checkout.write(a="a = 2\n")
    trap.canary.unlink(missing_ok=True)
    before = trap.checkout.state()

    found = await trap.checkout.changed()

    assert found.files == {"a.py", ".gitattributes"}
    assert not trap.canary.exists()
    assert trap.checkout.state() == before


@pytest.mark.parametrize("way", ["clean", "process"])
async def test_a_filter_runs_as_in_git_status_and_is_ended_if_it_hangs(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attributes say what a file's content is for git; the suite that is about to run is the project's code too."""
    trap = Trap(tmp_path)
    trap.attributes("*.py filter=evil")
    trap.configure(f"filter.evil.{way}")
    trap.checkout.write(a="a = 2\n")
    before = trap.checkout.state()

    # The second kind answers git, which this one does not: git dies of that, or does without, as it comes.
    with nullcontext() if way == "clean" else suppress(CannotTell):
        assert "a.py" in await trap.checkout.files()
    assert trap.canary.exists()
    assert trap.checkout.state() == before

    monkeypatch.setattr(git_commands, "GIT_SECONDS", 1)
    trap.program.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    with anyio.fail_after(PATIENCE), pytest.raises(CannotTell, match="within 1 seconds"):
        await trap.checkout.files()
    assert processes_in(tmp_path) == []


@pytest.mark.usefixtures("directly")
async def test_variables_of_the_server_do_not_lead_git_elsewhere(tmp_path: Path) -> None:
    trap, other = Trap(tmp_path), new_checkout(tmp_path / "other")
    trap.checkout.write(a="a = 2\n")
    elsewhere = {"GIT_DIR": str(other.top / ".git"), "GIT_WORK_TREE": str(other.top), "GIT_INDEX_FILE": "/dev/null"}
    programs = dict.fromkeys(("GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_ASKPASS"), str(trap.program))

    found = await trap.checkout.changed("HEAD", **elsewhere, **programs)

    assert found.files == {"a.py"}
    assert not trap.canary.exists()


@pytest.mark.usefixtures("directly")
async def test_a_git_inside_the_checkout_is_not_started(tmp_path: Path) -> None:
    """Also not if the root is another folder of the checkout."""
    trap = Trap(tmp_path)
    trap.checkout.commit(**{"inner/c": ""})
    shutil.copy2(trap.program, trap.checkout.top / "git")

    await trap.checkout.changed("HEAD", root="inner", PATH=f"{trap.checkout.top}:.:/usr/bin:/bin")
    with pytest.raises(ChangesRefused, match="git is not on the PATH"):
        await trap.checkout.changed("HEAD", root="inner", PATH=str(trap.checkout.top))

    assert not trap.canary.exists()


def no_tree(trap: Trap) -> None:
    """A partial clone without trees, which git would fetch."""
    lacking("ssh://host.invalid/x", "core.sshCommand")(trap)
    tree = trap.checkout.git("rev-parse", "HEAD^{tree}").strip()
    (trap.checkout.top / ".git" / "objects" / tree[:2] / tree[2:]).unlink()


def corrupt_index(trap: Trap) -> None:
    (trap.checkout.top / ".git" / "index").write_bytes(b"DIRC" + b"\xff" * 100)


def piped_index(trap: Trap) -> None:
    index = trap.checkout.top / ".git" / "index"
    index.unlink()
    os.mkfifo(index)


def parent_in_tree(trap: Trap) -> None:
    """A tree with names that no checkout can have."""
    blob = trap.checkout.git("rev-parse", "HEAD:a.py").strip()
    inner = trap.checkout.git("mktree", given=f"100644 blob {blob}\tsecret\n".encode()).strip()
    tree = trap.checkout.git("mktree", given=f"040000 tree {inner}\t..\n".encode()).strip()
    trap.checkout.git("update-ref", "HEAD", trap.checkout.git("commit-tree", "-m", "evil", tree).strip())


def bomb(trap: Trap) -> None:
    """Ten objects that stand for ten thousand million files."""
    inner = f"100644 blob {trap.checkout.git('rev-parse', 'HEAD:a.py').strip()}"
    for _ in range(10):
        tree = trap.checkout.git("mktree", given="".join(f"{inner}\t{name}\n" for name in range(10)).encode()).strip()
        inner = f"040000 tree {tree}"
    trap.checkout.git("update-ref", "HEAD", trap.checkout.git("commit-tree", "-m", "bomb", tree).strip())


def worktree_elsewhere(trap: Trap) -> None:
    elsewhere = new_checkout(trap.checkout.top.parent / "elsewhere")
    trap.configure(f"core.worktree={elsewhere.top}")


def link_to_nowhere(trap: Trap) -> None:
    git = trap.checkout.top / ".git"
    shutil.rmtree(git)
    git.write_text("gitdir: /nonexistent\n", encoding="utf-8")


def bare_inside(trap: Trap) -> None:
    """The root looks like a bare repository, and its `.git` is none."""
    git = trap.checkout.top / ".git"
    for path in git.iterdir():
        path.rename(trap.checkout.top / path.name)
    trap.configure("core.bare=true", "core.fsmonitor")


ODD: dict[Plant, type[Exception]] = {
    no_tree: CannotTell,
    corrupt_index: CannotTell,
    piped_index: CannotTell,
    parent_in_tree: CannotTell,
    bomb: CannotTell,
    configured("core.worktree=/"): ChangesRefused,
    worktree_elsewhere: ChangesRefused,
    link_to_nowhere: ChangesRefused,
    bare_inside: ChangesRefused,
}


@pytest.mark.parametrize("plant", ODD)
async def test_a_repository_that_cannot_be_compared_is_an_error_in_time(
    plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_commands, "GIT_SECONDS", PATIENCE)
    monkeypatch.setattr(git_commands, "MAX_MEMORY", 256 * 1024**2)
    monkeypatch.setattr(git_commands, "MAX_OUTPUT", 1024 * 1024)
    trap = Trap(tmp_path)
    plant(trap)
    trap.canary.unlink(missing_ok=True)

    with anyio.fail_after(PATIENCE), pytest.raises(ODD[plant]) as raised:
        await trap.checkout.changed("HEAD")

    assert "\n" not in str(raised.value)
    assert not trap.canary.exists()
    assert processes_in(tmp_path) == []


async def test_a_git_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_commands, "GIT_SECONDS", 1)
    home, checkout = empty_home(tmp_path / "home"), new_checkout(tmp_path / "project")
    home.program("git", "exec sleep 600")

    with anyio.fail_after(PATIENCE), pytest.raises(CannotTell, match="within 1 seconds"):
        await checkout.changed("HEAD", **home.environment)

    assert processes_in(tmp_path) == []


@pytest.mark.usefixtures("directly")
async def test_a_repository_of_another_user_is_refused_with_the_line_that_allows_it(tmp_path: Path, home: Home) -> None:
    checkout = new_checkout(tmp_path / "project")
    home.program("git", 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec /usr/bin/git "$@"')

    with pytest.raises(ChangesRefused, match=f"--add safe.directory {checkout.top}"):
        await checkout.changed("HEAD", **home.environment)


@pytest.mark.usefixtures("directly")
async def test_links_pipes_and_loops_in_the_working_tree_are_neither_followed_nor_read(tmp_path: Path) -> None:
    outside, checkout = tmp_path / "outside", new_checkout(tmp_path / "project")
    checkout.commit(**{"folder/c": "c = 1\n", "piped": "p = 1\n", "looped": ""})
    shutil.move(checkout.top / "folder", outside)
    (checkout.top / "folder").symlink_to(outside)
    for name in ("piped.py", "looped.py"):
        (checkout.top / name).unlink()
    os.mkfifo(checkout.top / "piped.py")
    (checkout.top / "looped.py").symlink_to("looped.py")
    (checkout.top / "circle").symlink_to(".")

    assert await checkout.files() == {"circle", "folder", "folder/c.py", "looped.py", "piped.py"}
