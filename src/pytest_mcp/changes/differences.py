"""Placeholder: what changed, by plain git. Only for a repository whose top is the root."""

from dataclasses import dataclass

from pytest_mcp.changes.repository import NoRepository, UnknownRef
from pytest_mcp.config.model import Config
from pytest_mcp.execution import process
from pytest_mcp.execution.command import Launch


@dataclass(frozen=True)
class Changes:
    # The ref as a person names it, and its commit.
    since: str
    commit: str
    # Relative to the root.
    files: frozenset[str]
    # Changed files of the checkout that are not below the root, relative to the top of the checkout.
    outside: frozenset[str]


async def since(config: Config, ref: str | None) -> Changes:
    """Raises NoRepository or UnknownRef, which refuse the request, or CannotTell."""
    if not (config.root / ".git").exists():
        raise NoRepository("the project is not in a git repository.")
    name = ref or "HEAD"
    commit = await _git(config, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit is None:
        raise UnknownRef(f"{name} names no commit.")
    tracked = await _git(config, "diff", "--name-only", "--no-renames", "-z", commit.strip())
    untracked = await _git(config, "ls-files", "-o", "-z", "--exclude-standard")
    files = frozenset(path for listed in (tracked, untracked) for path in (listed or "").split("\0") if path)
    return Changes(name, commit.strip(), files, frozenset())


async def _git(config: Config, *arguments: str) -> str | None:
    launch = Launch(("git", *arguments), config.root, config.environment)
    done = await process.ask(launch, time_limit=60, kept_output=10_000_000)
    return done.stdout if done.code == 0 else None
