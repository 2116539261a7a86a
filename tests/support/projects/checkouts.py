"""A repository with one commit, made by the real git, and what changed in it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_mcp.changed import working_tree
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.config.model import Config, Options, configure
from pytest_mcp.process import process
from pytest_mcp.process.job import Exit, Launch
from tests.support.git import IDENTITY
from tests.support.projects.project_files import write_files
from tests.support.waiting import PATIENCE


@dataclass(frozen=True)
class Checkout:
    top: Path

    @property
    def environment(self) -> dict[str, str]:
        """Of a user without git settings."""
        return {"HOME": str(self.top.parent), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

    def git(self, *arguments: str | Path, given: bytes = b"", check: bool = True) -> str:
        command = ["git", *IDENTITY, *arguments]
        return subprocess.run(
            command, cwd=self.top, env=self.environment, input=given, capture_output=True, check=check, timeout=PATIENCE
        ).stdout.decode("utf-8", "surrogateescape")

    def commit(self, **files: str) -> str:
        """Commit everything; its hash."""
        self.write(**files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "a commit")
        return self.git("rev-parse", "HEAD").strip()

    def write(self, **files: str) -> None:
        """Files of Python, by their names without the suffix."""
        write_files(self.top, {f"{name}.py": content for name, content in files.items()})

    def config(self, root: str = ".", **environment: str) -> Config:
        return configure(Options(root=str(self.top / root)), self.environment | environment)

    async def changed(self, ref: str | None = None, root: str = ".", **environment: str) -> Changes:
        return (await working_tree.since_ref(self.config(root, **environment), ref)).changes

    async def files(self, ref: str | None = "HEAD") -> set[str]:
        return set((await self.changed(ref)).files)

    def state(self) -> dict[str, tuple[int, int, bytes]]:
        """All that stands in the checkout and in its repository."""
        found = {}
        for path in self.top.rglob("*"):
            seen = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path.relative_to(self.top))] = (seen.st_mode, seen.st_mtime_ns, content)
        return found


def new_checkout(folder: Path) -> Checkout:
    folder.mkdir(parents=True)
    checkout = Checkout(folder.resolve())
    checkout.git("init", "--quiet", "--initial-branch=main")
    checkout.commit(a="a = 1\n", b="b = 1\n")
    return checkout


@contextmanager
def without_supervisor() -> Iterator[None]:
    """The same commands in the same environment, started at once: for many questions to git in one test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "ask_for_bytes", _ask)
        yield


async def _ask(launch: Launch, given: bytes, *, time_limit: float, most: int) -> tuple[Exit, bytes]:
    ended = subprocess.run(
        launch.argv,
        cwd=launch.cwd,
        env=dict(launch.env),
        input=given,
        capture_output=True,
        check=False,
        timeout=time_limit,
    )
    assert len(ended.stdout) <= most
    stderr = ended.stderr.decode()
    return Exit(
        code=ended.returncode, signal=None, reason="exited", duration=0.0, stdout="", stderr=stderr
    ), ended.stdout
