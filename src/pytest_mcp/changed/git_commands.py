"""The git repository of a project, and the only module that starts git.

Each command here is safe in a repository whose `.git/config` names programs (fsmonitor, hooks, external diffs,
transports): git starts none of them but filters, which run as in `git status` and, in a copy of the checkout, as in
`git checkout`. Nothing of the repository is written: git gets a private copy of the index, since `git diff` rewrites
the index that it reads. What git writes whenever it reads remains: the time stamp of a split index's shared file, and
the trees of a sparse index that it must expand. A ref reaches git on stdin, or as the hash that it stands for.
`listings` parses what git prints.
"""

import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pytest_mcp.changed.project_files import read_regular
from pytest_mcp.config.model import Config
from pytest_mcp.process import process, run_folder
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import Exit, SpawnError
from pytest_mcp.process.run_folder import FolderError
from pytest_mcp.python import git_files, query
from pytest_mcp.python.query import Question, Unanswered

# For one command. A repository can make git hang, by a pipe in place of a file for example.
GIT_SECONDS = 20
# A few objects can stand for a tree of millions of files, all of which git would list in memory.
MAX_MEMORY = 2 * 1024**3
# One listing: about half a million files.
MAX_OUTPUT = 64 * 1024 * 1024
# An index of a million files is half as large.
MAX_INDEX = 256 * 1024 * 1024
# The default branch is the first of these that exists.
BRANCHES = (
    *("refs/remotes/origin/HEAD", "refs/heads/main", "refs/remotes/origin/main"),
    *("refs/heads/master", "refs/remotes/origin/master"),
)

_OPTIONS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    # Else the private index could be written as a split one, whose shared file is in the repository.
    *("-c", "core.splitIndex=false"),
    # Else a file that was only touched is a difference.
    *("-c", "diff.autoRefreshIndex=true"),
    # The order does not matter, and the file that it is read from can be a pipe.
    *("-c", "diff.orderFile=/dev/null"),
    # Else names beyond ASCII are quoted in a patch.
    *("-c", "core.quotePath=false"),
    # A folder of the project that looks like a bare repository is not taken for one.
    *("-c", "safe.bareRepository=explicit"),
)
_VARIABLES: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    # A partial clone fetches what is missing, with programs that its configuration names. Older versions of git know
    # only the second variable.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
# In one call of `rev-parse`, which ends at the first name that does not exist: a pattern need not match. The branches
# that exist are listed twice, by hash and by name.
_PATTERNS = tuple(f"--glob={name[:-1]}[{name[-1]}]" for name in BRANCHES)
_OPENING = ("rev-parse", "--show-toplevel", "--git-path", "index", "HEAD", *_PATTERNS, "--symbolic")
_STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
_DIFF = (
    *("diff", "--raw", "-z", "--no-abbrev", "--no-renames"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"),
)
# Behind the list of files, the numbers of the lines that differ. A change of line ends alone is none.
_LINES = ("--patch", "--unified=0", "--inter-hunk-context=0", "--no-prefix", "--ignore-cr-at-eol")
# A larger file counts as binary there. No person writes so much source into one.
_MAX_TEXT = ("-c", "core.bigFileThreshold=2m")
# What an index contains that git must not write, even privately: the mode of a submodule, since the git that looks into
# one would write to the submodule's index; and the marks of a split one, which could name submodules, and of a sparse
# one, for which git creates objects.
_UNWRITTEN = ((0o160000).to_bytes(4, "big"), b"link", b"sdir")
# What git exits with if a name does not exist.
_FATAL = 128
UNREADABLE = "git gave an answer that could not be read"
# What git says when another user owns the repository.
_FOREIGN = "dubious ownership"


class ChangesRefused(Exception):
    """There is no repository that git reads, or no such ref; the message follows the name of the parameter."""


class CannotTell(Exception):
    """What changed cannot be told; the message says why. Every test counts as reached then."""


class GitFailed(CannotTell):
    """git exited with an error; the message repeats it."""


@dataclass(frozen=True)
class Repository:
    """One checkout, as it was when a call opened it. No program below `top` is ever started."""

    config: Config
    top: Path
    program: Path
    # The file in which git keeps what is staged.
    index: Path
    # None before the first commit.
    head: str | None = None
    # The commits of those that exist.
    branches: Mapping[str, str] = field(default_factory=dict)
    # Whether HEAD has a file in the project's folder.
    has_root: bool = False

    async def ask(self, *arguments: str, given: bytes = b"", variables: Mapping[str, str] = _VARIABLES) -> bytes:
        """What it prints. Raises CannotTell."""
        ended, output = await self.run(*arguments, given=given, variables=variables)
        if ended.code != 0:
            raise GitFailed(str(query.complaint("git", ended)))
        return output

    async def run(
        self, *arguments: str, given: bytes = b"", variables: Mapping[str, str] = _VARIABLES
    ) -> tuple[Exit, bytes]:
        """The same with any exit code."""
        question = _question(self.config, self.top, (*_OPTIONS, *arguments), variables)
        launch = replace(query.launch(question, self.program), max_memory=MAX_MEMORY)
        try:
            ended, output = await process.ask_for_bytes(launch, given, time_limit=GIT_SECONDS, most=MAX_OUTPUT)
        except SpawnError as error:
            raise CannotTell(f"git could not be started: {error}") from error
        if ended.timed_out:
            raise CannotTell(f"git did not answer within {GIT_SECONDS} seconds")
        if ended.reason == "overflow":
            raise CannotTell(f"git listed more than {MAX_OUTPUT // 1024**2} MiB of files")
        if ended.code is None:
            raise CannotTell(f"git was ended by {ended.signal}")
        return ended, output

    @property
    def root(self) -> Path:
        """The project's folder, relative to the top."""
        return self.config.root.relative_to(self.top)

    async def commits(self, names: Sequence[str]) -> list[str | None]:
        """The hash of the commit that each name stands for; None if there is none."""
        asked = "".join(f"{name}^{{commit}}\n" for name in names).encode()
        output = await self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", given=asked)
        objects = [line.split(" ") for line in output.decode("utf-8", "replace").split("\n")[:-1]]
        if len(objects) != len(names):
            raise CannotTell(UNREADABLE)
        return [words[0] if words[1:] == ["commit"] else None for words in objects]

    async def merge_base(self, one: str, other: str) -> str | None:
        """One common ancestor; None if there is none, which can be so in a shallow clone."""
        ended, output = await self.run("merge-base", one, other)
        if ended.code not in (0, 1):
            raise GitFailed(str(query.complaint("git", ended)))
        return output.decode().strip() or None

    async def first_parents(self, last: str, known: str, most: int) -> list[str]:
        """The commits from the last one back, by first parents, that come after the known one.

        It may have been merged in: then the commits of the branch before that do not have it.
        """
        given = f"{last}\n^{known}\n".encode()
        output = await self.ask("rev-list", "--first-parent", f"--max-count={most}", "--stdin", given=given)
        after = {*(await self.ask("rev-list", "--ancestry-path", "--stdin", given=given)).split()}
        return [commit.decode() for commit in output.split() if commit in after]

    async def described(self, commit: str) -> tuple[str, list[str]]:
        """The subject of a commit, and the files that differ from its first parent."""
        _, _, message = (await self.ask("cat-file", "commit", commit)).partition(b"\n\n")
        parent = (await self.commits([f"{commit}^1"]))[0]
        names = b""
        if parent is not None:
            names = await self.ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", parent, commit)
        files = [os.fsdecode(name) for name in names.split(b"\0") if name]
        return message.partition(b"\n")[0].decode("utf-8", "replace"), files

    async def is_shallow(self) -> bool:
        """Whether the clone lacks commits that its oldest ones come after."""
        return (await self.ask("rev-parse", "--is-shallow-repository")).strip() == b"true"

    async def status_and_diff(self, commit: str | None, *, lines: bool = False) -> tuple[bytes, bytes]:
        """What is not committed, and all that differs from a commit; nothing does without one."""
        async with self._private_index() as variables:
            status = await self.ask(*_STATUS, variables=variables)
            if commit is None:
                return status, b""
            diff = (*_MAX_TEXT, *_DIFF, *_LINES) if lines else _DIFF
            return status, await self.ask(*diff, commit, "--", variables=variables)

    async def tracked(self) -> bytes:
        """What is staged: records of `mode hash stage TAB path`."""
        return await self.ask("ls-files", "--stage", "-z")

    async def contents(self, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """The objects of these hashes that are files and are there."""
        if not names:
            return {}
        output = await self.ask("cat-file", "--batch", given=b"".join(name + b"\n" for name in names))
        found: dict[bytes, bytes] = {}
        at = 0
        for name in names:
            line, _, _ = output[at : at + 200].partition(b"\n")
            at += len(line) + 1
            words = line.split(b" ")
            if len(words) == 3 and words[2].isdigit():
                size = int(words[2])
                found |= {name: output[at : at + size]} if words[1] == b"blob" else {}
                at += size + 1
        return found

    async def put_back(self, copy: Path, commit: str, paths: Sequence[bytes]) -> None:
        """In a copy with a repository of its own: HEAD, the index and these files as the commit has them.

        git writes the files, with the filters that the copy's attributes name.
        """
        there = replace(self, top=copy)
        variables = {**_VARIABLES, "GIT_DIR": str(copy / ".git"), "GIT_WORK_TREE": str(copy)}
        await there.ask("-c", "core.logAllRefUpdates=false", "update-ref", "HEAD", commit, variables=variables)
        await there.ask("read-tree", commit, variables=variables)
        given = b"".join(path + b"\0" for path in paths)
        await there.ask("checkout-index", "--force", "-z", "--stdin", given=given, variables=variables)

    @asynccontextmanager
    async def _private_index(self) -> AsyncIterator[dict[str, str]]:
        """The variables with which git uses a copy of the index, where it notes which files it found unchanged."""
        try:
            folder = run_folder.make()
        except FolderError as error:
            raise CannotTell(str(error)) from error
        try:
            copy = folder.path / "index"
            is_written = await in_thread(partial(_copy_index, self.index, copy))
            yield {**_VARIABLES, "GIT_INDEX_FILE": str(copy), "GIT_OPTIONAL_LOCKS": str(int(is_written))}
        except OSError as error:
            raise CannotTell(f"git's index cannot be copied: {error.strerror}") from error
        finally:
            folder.remove()


async def open_repository(config: Config) -> Repository:
    """The checkout that the root belongs to. Raises ChangesRefused if git does not read it."""
    checkout = git_files.find(config.root)
    if checkout is None:
        raise ChangesRefused(f"needs a git repository, and {config.root} is not in one")
    top = checkout.top
    try:
        program = query.find(_question(config, top))
    except Unanswered as error:
        raise ChangesRefused(f"needs git, and {error}") from error
    unread = Repository(config, top, program, top)
    inside = [] if config.root == top else [f"HEAD:{unread.root.as_posix()}"]
    ended, output = await unread.run(*_OPENING, *_PATTERNS, *inside)
    if ended.code not in (0, _FATAL) or not output:
        complaint = str(query.complaint("git", ended))
        if _FOREIGN in complaint:
            allow = f"git config --global --add safe.directory {shlex.quote(str(top))}"
            complaint = f"another user owns this one; if you trust it: {allow}"
        raise ChangesRefused(f"needs a repository that git reads; {complaint}")
    seen, *lines = os.fsdecode(output).removeprefix(f"{top}\n").split("\n")
    if not output.startswith(os.fsencode(top) + b"\n"):
        # `core.worktree`, or a `.git` that git passes over.
        raise ChangesRefused(f"needs a repository of its own; for git, {top} belongs to the repository {seen}")
    head, *rest = lines or [""]
    if not rest:
        raise CannotTell(UNREADABLE)
    return replace(
        unread,
        index=top / seen,
        head=None if head == "HEAD" else head,
        branches=dict(zip([line for line in rest if line in BRANCHES], rest, strict=False)),
        has_root=ended.code == 0,
    )


def _question(
    config: Config, top: Path, arguments: tuple[str, ...] = (), variables: Mapping[str, str] = _VARIABLES
) -> Question:
    withheld = {name: None for name in config.environment if name.startswith("GIT_")}
    return Question("git", arguments, top, top, config.environment, {**withheld, **variables})


def _copy_index(index: Path, copy: Path) -> bool:
    """Whether git may write to the copy."""
    try:
        status = index.stat()
        content = read_regular(index, MAX_INDEX)
    except FileNotFoundError:
        # Nothing is staged.
        return False
    if content is None or status.st_size > MAX_INDEX:
        raise CannotTell("git's index is not a file that can be read")
    copy.write_bytes(content)
    # git reads again what was written to since the index was: a copy that is newer would hide such a change.
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    is_written = not any(part in content for part in _UNWRITTEN)
    if not is_written:
        copy.with_name("index.lock").touch()
    return is_written
