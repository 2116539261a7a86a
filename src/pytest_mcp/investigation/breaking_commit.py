"""The commit since which a test fails: found by halves, each in a fresh tree, between one where it passed and HEAD.

A commit at which the test has no outcome, or fails by another statement, is skipped: it tells nothing of this failure.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio

from pytest_mcp.changed import working_tree
from pytest_mcp.changed.git_commands import CannotTell, Repository
from pytest_mcp.changed.reach import without_caches
from pytest_mcp.changed.working_tree import Base
from pytest_mcp.investigation.base import AtBase, BaseSearch
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.repetitions import Seeds
from pytest_mcp.investigation.result import BrokenBy
from pytest_mcp.investigation.runner import OutOfTime
from pytest_mcp.text import in_line

# So many runs more than halving needs: for what is not committed, and for commits that are skipped.
SPARE_RUNS = 3
# A longer history is not searched.
MAX_COMMITS = 10_000
MAX_FILES = 20
# How much of a hash is shown.
SHOWN = 10


class Broken(NamedTuple):
    """`words` is why there is no such commit."""

    by: BrokenBy | None = None
    words: str | None = None


class Found(NamedTuple):
    """Of things in order: the first bad one, None if it is not known, and those that could not be judged."""

    first: int | None
    low: int
    high: int
    skipped: tuple[int, ...]


async def first_bad(number: int, is_bad: Callable[[int], Awaitable[bool | None]], *, most: int) -> Found:
    """The last of them is bad, and what comes before the first is good. At most so many are judged."""
    low, high = -1, number - 1
    skipped: list[int] = []
    for _ in range(most):
        left = [index for index in range(low + 1, high) if index not in skipped]
        if not left:
            break
        # Neighbours are often skipped for one reason, so the next try is farther away.
        near = sum(low < index < high for index in skipped)
        goal = low + (high - low) * _SHARES[near % len(_SHARES)]
        chosen = min(left, key=lambda index, goal=goal: abs(index - goal))  # type: ignore[misc]  # a default
        judged = await is_bad(chosen)
        if judged is None:
            skipped.append(chosen)
        elif judged:
            high = chosen
        else:
            low = chosen
    is_known = all(index in skipped for index in range(low + 1, high))
    return Found(high if is_known else None, low, high, tuple(skipped))


_SHARES = (1 / 2, 3 / 4, 1 / 4, 7 / 8, 1 / 8)


@dataclass(frozen=True)
class CommitSearch:
    base: BaseSearch
    repository: Repository
    seeds: Seeds
    # How it fails now.
    failed: Sequence[Outcome]

    async def run(self, there: AtBase) -> Broken:
        """`there` is where it passes. Raises OutOfTime."""
        assert there.base is not None
        try:
            with anyio.fail_after(self.base.runner.deadline.left):
                # The last commit that was seen to fail, if earlier ones were tried.
                bad = next((each.base for each in reversed(there.tried) if each.looks_the_same(self.failed)), None)
                end = self.repository.head if bad is None else bad.commit
                assert end is not None
                commits = await self._between(there.base.commit, end)
                is_open = bad is None and await self._has_uncommitted(end)
        except TimeoutError:
            return Broken(words="not looked for, the time was over")
        except CannotTell as error:
            return Broken(words=str(error))
        return await self._search(commits, is_open=is_open)

    async def _search(self, commits: Sequence[str], *, is_open: bool) -> Broken:
        if not commits:
            return Broken(words="what is not committed")
        most = math.floor(math.log2(len(commits))) + SPARE_RUNS
        if is_open:
            judged = await self._is_bad(commits[-1], most)
            if not judged:
                return Broken(words="what is not committed" if judged is False else "not known: HEAD tells nothing")

        async def is_bad(index: int) -> bool | None:
            return await self._is_bad(commits[index], len(commits))

        found = await first_bad(len(commits), is_bad, most=most - is_open)
        skipped = [commits[index][:SHOWN] for index in found.skipped]
        if found.first is None:
            last = commits[found.high][:SHOWN]
            return Broken(words=f"one of {found.high - found.low} commits up to {last}; skipped: {', '.join(skipped)}")
        subject, files = await self.repository.described(commits[found.first])
        names = [in_line(file) for file in files[:MAX_FILES]]
        more = [f"and {len(files) - MAX_FILES} more"] if len(files) > MAX_FILES else []
        commit = commits[found.first][:SHOWN]
        return Broken(BrokenBy(commit=commit, subject=in_line(subject), files=[*names, *more], skipped=skipped))

    async def _is_bad(self, commit: str, number: int) -> bool | None:
        self.base.runner.on_step(f"bisecting {number} commits: {commit[:SHOWN]}")
        seen = await self.base.at(Base(commit[:SHOWN], commit), self.repository, [self.seeds])
        if seen.is_untried:
            raise OutOfTime
        if seen.passes:
            return False
        causes = {each.cause for each in self.failed}
        is_it = seen.problem is None and any(each.failed and each.cause in causes for each in seen.outcomes)
        return True if is_it else None

    async def _between(self, good: str, bad: str) -> list[str]:
        """After the good one, up to the bad one. Raises CannotTell."""
        if await self.repository.merge_base(good, bad) != good:
            raise CannotTell("the base does not come before HEAD")
        commits = await self.repository.first_parents(bad, good, MAX_COMMITS + 1)
        if len(commits) > MAX_COMMITS:
            raise CannotTell(f"there are more than {MAX_COMMITS} commits since the base")
        return commits[::-1]

    async def _has_uncommitted(self, head: str) -> bool:
        changes = without_caches((await working_tree.since(self.repository, Base("HEAD", head))).changes)
        return bool(changes.files or changes.outside)
