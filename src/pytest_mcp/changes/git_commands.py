"""Ask git about a repository, without starting a program that the repository names.

In come the settings, or the folder of a submodule; out comes what git printed, or an error with one sentence. Which
commands git is given is decided here and nowhere else. `.git/config` can name programs for most of git's commands
(fsmonitor, filters, hooks, external diffs, transports): those used here start none of them. They write nothing; only
the time stamp of a split index's shared file is renewed, which git does whenever it reads one.
What the listings mean is decided in `listings`, which commit is compared in `references`.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from pytest_mcp.config.model import Config
from pytest_mcp.environments import git_files
from pytest_mcp.environments.managers import query
from pytest_mcp.environments.managers.query import Question, Unanswered
from pytest_mcp.events.exit import Exit
from pytest_mcp.execution import process
from pytest_mcp.execution.supervisor_client import SpawnError

# For one command. A repository can make git hang, by a pipe in place of a file for example.
GIT_SECONDS = 20
# One listing: about half a million files.
MOST_OUTPUT = 64 * 1024 * 1024

_OPTIONS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
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
# What git says when another user owns the repository.
_FOREIGN = "dubious ownership"
_FALSE = frozenset({"false", "no", "off", "0", ""})


class Refused(Exception):
    """Changes cannot be asked for here or with this ref; the message follows the name of the parameter."""


class NoRepository(Refused):
    """There is no git or no repository that it reads."""


class UnknownRef(Refused):
    """The ref that was given names no commit."""


class CannotTell(Exception):
    """What changed cannot be told; the message says why. Every test counts as reached then."""


class GitFailed(CannotTell):
    """git exited with an error; the message repeats it."""


@dataclass(frozen=True)
class Settings:
    """What the repository's configuration says about files in the working tree."""

    executable_bits: bool
    converts_line_ends: bool


@dataclass(frozen=True)
class Listings:
    """The output of ls-tree and ls-files, and the settings that files are compared with."""

    tree: bytes
    files: bytes
    settings: Settings


@dataclass(frozen=True)
class Repository:
    """One checkout. No program below `outermost`, the checkout that contains the project, is ever started."""

    top: Path
    outermost: Path
    program: Path
    environment: Mapping[str, str]

    async def submodule(self, folder: Path) -> "Repository":
        return await _checked(replace(self, top=folder))

    async def commits(self, names: Sequence[str]) -> list[str | None]:
        """The hash of the commit that each name stands for; None if there is none."""
        asked = "".join(f"{name}^{{commit}}\n" for name in names).encode()
        told = await self._ask("cat-file", "--batch-check=%(objectname) %(objecttype)", given=asked)
        found = [line.split(" ") for line in told.decode("utf-8", "replace").split("\n")[:-1]]
        if len(found) != len(names):
            raise CannotTell("git gave an answer that could not be read")
        return [words[0] if words[1:] == ["commit"] else None for words in found]

    async def merge_base(self, one: str, other: str) -> str | None:
        """One common ancestor; None if there is none, which can be so in a shallow clone."""
        return (await self._ask("merge-base", one, other, fine=(0, 1))).decode().strip() or None

    async def list_all(self, commit: str) -> Listings:
        """The commit's tree, the index with untracked files, and the settings: asked at the same time."""
        questions = {
            "tree": ("ls-tree", "-r", "-z", "--full-tree", commit),
            # With tags (`-t`): S is a file that a sparse checkout leaves out, ? an untracked one.
            "files": ("ls-files", "-s", "-t", "-o", "-z", "--exclude-standard"),
            # Exits with 1 if none is set.
            "settings": ("config", "-z", "--get-regexp", r"^core\.(filemode|autocrlf)$"),
        }
        answers: dict[str, bytes | CannotTell] = {}

        async def ask(name: str) -> None:
            try:
                answers[name] = await self._ask(*questions[name], fine=(0, 1) if name == "settings" else (0,))
            except CannotTell as error:
                answers[name] = error

        async with anyio.create_task_group() as group:
            for name in questions:
                group.start_soon(ask, name)
        tree, files, settings = (_given(answers[name]) for name in questions)
        return Listings(tree, files, _settings(settings))

    async def list_tree(self, commit: str) -> bytes:
        """The commit's tree: records of `mode type hash size TAB path`."""
        return await self._ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit)

    async def contents(self, hashes: Sequence[bytes]) -> bytes:
        """The objects one after the other: each a line of `hash type size`, its content and a newline."""
        return await self._ask("cat-file", "--batch", given=b"".join(name + b"\n" for name in hashes))

    async def find_top(self) -> str:
        """The top of the working tree, as git sees it."""
        return os.fsdecode((await self._ask("rev-parse", "--show-toplevel")).removesuffix(b"\n"))

    async def _ask(self, *arguments: str, given: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        question = _question(self.top, self.outermost, self.environment, arguments)
        try:
            ended, output = await process.ask_for_bytes(
                query.launch(question, self.program), given, time_limit=GIT_SECONDS, most=MOST_OUTPUT
            )
        except SpawnError as error:
            raise CannotTell(f"git could not be started: {error}") from error
        _check(ended, fine)
        return output


async def find(config: Config) -> Repository:
    """The checkout that the root belongs to. Raises NoRepository if git does not read it."""
    checkout = git_files.find(config.root)
    if checkout is None:
        raise NoRepository(f"needs a git repository, and {config.root} is not in one")
    top = checkout.top
    try:
        program = query.find(_question(top, top, config.environment, ()))
    except Unanswered as error:
        raise NoRepository(f"needs git, and {error}") from error
    return await _checked(Repository(top, top, program, config.environment))


async def _checked(repository: Repository) -> Repository:
    try:
        seen = await repository.find_top()
    except GitFailed as error:
        if _FOREIGN in str(error):
            allow = f"git config --global --add safe.directory {shlex.quote(str(repository.top))}"
            raise NoRepository(
                f"needs a repository that git reads, and another user owns this one; if you trust it: {allow}"
            ) from error
        raise NoRepository(f"needs a repository that git reads; {error}") from error
    if seen != str(repository.top):
        # `core.worktree`, or a `.git` that git passes over.
        raise NoRepository(f"needs a repository of its own: the one of {repository.top} is that of {seen} for git")
    return repository


def _question(folder: Path, outermost: Path, environment: Mapping[str, str], arguments: tuple[str, ...]) -> Question:
    inherited = {name: None for name in environment if name.startswith("GIT_")}
    return Question(
        "git", (*_OPTIONS, *arguments), folder, environment, settings={**inherited, **_VARIABLES}, root=outermost
    )


def _check(ended: Exit, fine: Sequence[int]) -> None:
    if ended.timed_out:
        raise CannotTell(f"git did not answer within {GIT_SECONDS} seconds")
    if ended.reason == "overflow":
        raise CannotTell(f"git listed more than {MOST_OUTPUT // 1024**2} MiB of files")
    if ended.code is None:
        raise CannotTell(f"git was ended by {ended.signal}")
    if ended.code not in fine:
        raise GitFailed(str(query.complaint("git", ended)))


def _given(answer: bytes | CannotTell) -> bytes:
    if isinstance(answer, CannotTell):
        raise answer
    return answer


def _settings(output: bytes) -> Settings:
    """A key without a value is true. The last one counts."""
    lines = [record.partition("\n") for record in output.decode("utf-8", "replace").split("\0")]
    said = {key: not newline or value.lower() not in _FALSE for key, newline, value in lines}
    return Settings(said.get("core.filemode", True), said.get("core.autocrlf", False))
