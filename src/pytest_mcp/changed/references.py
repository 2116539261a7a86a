"""Which commit the working tree is compared with.

In comes a ref as it was given, or none; out come its name and its commit. A ref reaches git on stdin, never as an
argument, and only the commit's hash is used afterwards. What changed since then is decided in `differences`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mcp.changed.git_commands import CannotTell, GitFailed, Repository, UnknownRef

LONGEST_REF = 256
# Characters that no ref has, and syntax for ranges, paths and searches in messages. A search can take any time.
_UNUSABLE = (" ", ":", "?", "*", "[", "\\", "..", "{/")
_REMOTE_HEAD = "refs/remotes/origin/HEAD"


@dataclass(frozen=True)
class Base:
    # As a person names it.
    name: str
    commit: str


async def resolve(repository: Repository, ref: str | None) -> Base:
    """A given ref stands for its own tree.

    Without one it is the merge base of HEAD and the default branch: everything that was done on a branch. It is HEAD
    if HEAD is part of the default branch or there is no such branch: everything that is not committed.
    """
    return await (_default(repository) if ref is None else _named(repository, ref))


async def _named(repository: Repository, ref: str) -> Base:
    if not _is_usable(ref):
        raise UnknownRef("must name one commit, for example main, v1.2, HEAD~3, origin/main or a1b2c3d")
    try:
        (commit,) = await repository.commits([ref])
    except GitFailed as error:
        raise UnknownRef(f"names no commit: {error}") from error
    if commit is None:
        raise UnknownRef("names no commit of this repository; if it is on a remote, fetch it first")
    return Base(ref, commit)


def _is_usable(ref: str) -> bool:
    if not 0 < len(ref) <= LONGEST_REF or not ref.isprintable():
        return False
    return not ref.startswith(("-", "^")) and not any(each in ref for each in _UNUSABLE)


async def _default(repository: Repository) -> Base:
    head, known = repository.head, repository.branches
    if head is None:
        raise CannotTell("the repository has no commit yet")
    branch, tip = next(iter(known.items()), ("HEAD", head))
    base = head if tip == head else await repository.merge_base(head, tip)
    if base is None:
        raise CannotTell(f"HEAD and {_short(branch)} have no common commit here (a shallow clone may lack it)")
    return Base("HEAD", head) if base == head else Base(_shown(branch, known), base)


async def ancestors(repository: Repository, base: Base, steps: Sequence[int]) -> list[Base]:
    """The commits so many steps before it, by first parents; without those that there are not."""
    commits = await repository.commits([f"{base.commit}~{step}" for step in steps])
    found = [(step, commit) for step, commit in zip(steps, commits, strict=True) if commit is not None]
    return [Base(f"HEAD~{step}" if base.name == "HEAD" else commit[:7], commit) for step, commit in found]


def _shown(branch: str, known: Mapping[str, str]) -> str:
    """origin/main rather than origin/HEAD, if that is what it stands for."""
    same = [each for each, tip in known.items() if tip == known[branch] and each != _REMOTE_HEAD]
    return _short(same[0] if branch == _REMOTE_HEAD and same else branch)


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/").removeprefix("refs/remotes/")
