"""What a repository can bring that makes git start programs: asking what changed starts none and changes nothing."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from pytest_mcp.changes import repository
from pytest_mcp.changes.repository import CannotTell, NoRepository
from tests.support.checkouts import Checkout, new_checkout, without_supervisor
from tests.support.managed import Home, empty_home
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
        for setting in settings:
            name, _, value = setting.partition("=")
            self.checkout.git("config", name, value or str(self.program))

    def attributes(self, line: str) -> None:
        (self.checkout.top / ".gitattributes").write_text(f"{line}\n", encoding="utf-8")

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


def fsmonitor(trap: Trap) -> None:
    trap.configure("core.fsmonitor")


def fsmonitor_hook(trap: Trap) -> None:
    trap.hook("hooks", "query-watchman")
    trap.configure("core.fsmonitor=.git/hooks/query-watchman")


def included(trap: Trap) -> None:
    extra = trap.checkout.top / "settings"
    extra.write_text(f"[core]\nfsmonitor = {trap.program}\n", encoding="utf-8")
    trap.configure("include.path=../settings")


def filters(trap: Trap) -> None:
    trap.attributes("*.py filter=evil")
    trap.configure("filter.evil.clean", "filter.evil.smudge")


def filter_process(trap: Trap) -> None:
    trap.attributes("*.py filter=evil")
    trap.configure("filter.evil.process")


def external_diff(trap: Trap) -> None:
    trap.configure("diff.external")


def diff_driver(trap: Trap) -> None:
    trap.attributes("*.py diff=evil")
    trap.configure("diff.evil.command")


def textconv(trap: Trap) -> None:
    trap.attributes("*.py diff=evil")
    trap.configure("diff.evil.textconv")


def hook(trap: Trap) -> None:
    trap.hook("hooks", "post-index-change")


def hooks_path(trap: Trap) -> None:
    trap.hook("traps", "post-index-change")
    trap.configure(f"core.hooksPath={trap.checkout.top / '.git' / 'traps'}")


def alias(trap: Trap) -> None:
    """One of git's own commands cannot be replaced."""
    for name in ("rev-parse", "ls-files", "ls-tree", "cat-file", "merge-base", "config", "evil"):
        trap.configure(f"alias.{name}=!{trap.program}")


def pager(trap: Trap) -> None:
    trap.configure("core.pager", "pager.ls-files", "pager.config", "pager.ls-tree", "pager.rev-parse")


def ssh(trap: Trap) -> None:
    trap.partial_clone("remote.origin.url=ssh://host.invalid/x", "core.sshCommand")


def upload_pack(trap: Trap) -> None:
    trap.partial_clone(f"remote.origin.url={trap.checkout.top}", "remote.origin.uploadpack")


def remote_helper(trap: Trap) -> None:
    trap.partial_clone(f"remote.origin.url=ext::{trap.program}", "protocol.ext.allow=always", "protocol.allow=always")


def pack_objects(trap: Trap) -> None:
    trap.partial_clone(f"remote.origin.url={trap.checkout.top}", "uploadpack.packObjectsHook")


def credential_helper(trap: Trap) -> None:
    trap.configure("credential.helper")


def ask_pass(trap: Trap) -> None:
    trap.configure("core.askPass")


def signatures(trap: Trap) -> None:
    trap.configure("gpg.program", "log.showSignature=true", "commit.gpgSign=true")


STATUS, DIFF, SHOW = ("status",), ("diff",), ("cat-file", "-p", ABSENT)
# What starts the program, as far as something does without a terminal: the trap is a real one.
TRAPS: list[tuple[Callable[[Trap], None], tuple[str, ...] | None]] = [
    (fsmonitor, STATUS),
    (fsmonitor_hook, STATUS),
    (included, STATUS),
    (filters, STATUS),
    (filter_process, STATUS),
    (external_diff, DIFF),
    (diff_driver, DIFF),
    (textconv, DIFF),
    (hook, ("add", ".")),
    (hooks_path, ("add", ".")),
    (alias, ("evil",)),
    (pager, None),
    (ssh, SHOW),
    (upload_pack, SHOW),
    (remote_helper, SHOW),
    (pack_objects, None),
    (credential_helper, ("credential", "fill")),
    (ask_pass, ("credential", "fill")),
    (signatures, ("commit", "--allow-empty", "-m", "signed")),
]


@pytest.fixture
def directly() -> Iterator[None]:
    with without_supervisor():
        yield


@pytest.mark.anyio
@pytest.mark.parametrize(("plant", "trigger"), TRAPS, ids=[plant.__name__ for plant, _ in TRAPS])
async def test_a_program_that_the_repository_names_is_not_started(
    plant: Callable[[Trap], None], trigger: tuple[str, ...] | None, tmp_path: Path, directly: None
) -> None:
    trap = Trap(tmp_path)
    plant(trap)
    # Of the same size: only its content says that it changed. Planting may have started the program already.
    trap.checkout.write(a="a = 2\n", new="")
    trap.canary.unlink(missing_ok=True)
    before = trap.checkout.state()

    files = await trap.checkout.files()

    assert {"a.py", "new.py"} <= files
    assert "b.py" not in files
    assert not trap.canary.exists()
    assert trap.checkout.state() == before
    if trigger is not None:
        trap.checkout.git(*trigger, given=CREDENTIAL, check=False)
        assert trap.canary.exists()
