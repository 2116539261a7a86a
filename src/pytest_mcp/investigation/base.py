"""The test at the base: in a copy of the tree of another commit.

In come a ref and the test; out come its outcomes there. Where nothing differs from the base, nothing was compared, and
where it fails in the same way at HEAD, the last commit may have the bug: earlier commits are tried until it does not.
A test that is not there, cannot be collected there, or that tested other code than the copy's has no outcome: the
reason is told. How the copy is made is decided in `tree_copy`.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.changed import differences, git_commands, reach
from pytest_mcp.changed.differences import Base, Lines
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused, Repository
from pytest_mcp.changed.tree_copy import copy_of
from pytest_mcp.config.model import Config
from pytest_mcp.investigation import alone
from pytest_mcp.investigation.alone import Say, Seeds
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.process.background import in_thread
from pytest_mcp.run.attempt import Deadline

_NO_TIME = "not tried, the time was over"
_SHALLOW = "the clone is shallow: git fetch --unshallow gets the others"
# How many commits to go back, and the share of the remaining time for it.
STEPS_BACK = (1, 2, 4, 8, 16, 32)
SHARE_FOR_STEPS = 0.4


@dataclass(frozen=True)
class AtBase:
    """`problem` says why nothing follows from the outcomes. `left_out` has paths that the copy lacks."""

    name: str
    outcomes: tuple[Outcome, ...] = ()
    problem: str | None = None
    left_out: tuple[str, ...] = ()
    base: Base | None = None
    # The name of the base, if nothing differs from it.
    same_as: str | None = None
    # If earlier commits were tried: all that were, and this is the one that decides.
    tried: "tuple[AtBase, ...]" = ()

    @property
    def passes(self) -> bool:
        return self.problem is None and bool(self.outcomes) and all(each.passed for each in self.outcomes)

    @property
    def is_only_head(self) -> bool:
        """Whether commits before HEAD were wanted too, and none of them has an outcome."""
        return self.same_as is None and bool(self.tried) and all(each.problem for each in self.tried[1:])

    def fails_the_same(self, failed: Sequence[Outcome]) -> bool:
        return self.problem is None and any(each.is_like(failed) for each in self.outcomes)


@dataclass(frozen=True)
class Found:
    """The base that a call is about, or why there is none."""

    base: Base | None
    repository: Repository | None
    problem: str | None = None

    @property
    def name(self) -> str:
        if self.base is None:
            return "the base"
        short = self.base.commit[:7]
        return short if self.base.commit.startswith(self.base.name) else f"{self.base.name} ({short})"


async def find(config: Config, ref: str | None, deadline: Deadline) -> Found:
    """Raises InvalidParams if a ref was given and cannot be used."""
    try:
        with anyio.fail_after(deadline.left):
            found = await git_commands.open_repository(config)
            return Found(await differences.resolve(found, ref), found)
    except TimeoutError:
        return Found(None, None, _NO_TIME)
    except (ChangesRefused, CannotTell) as error:
        if ref is not None:
            raise InvalidParams([Fault("base", str(error), "value_error", ref)]) from error
        return Found(None, None, f"not tried: {error}")


class Earlier(NamedTuple):
    """Commits before the base; if there are none, whether that is because the clone is shallow."""

    commits: Sequence[Base]
    is_shallow: bool = False


@dataclass(frozen=True)
class BaseSearch:
    runner: Runner
    node_id: str
    found: Found
    say: Say

    async def look(self, seeds: Sequence[Seeds], failed: Sequence[Outcome] = ()) -> AtBase:
        """One run for each of the seeds, until it fails. `failed` is what is compared with."""
        if self.found.base is None or self.found.repository is None:
            return AtBase(self.found.name, problem=self.found.problem)
        try:
            with anyio.fail_after(self.runner.deadline.left):
                is_same = await _is_same(self.found.repository, self.found.base, self.node_id)
                earlier = await _earlier(self.found.repository, self.found.base)
        except (ChangesRefused, CannotTell):
            return await self._look_once(seeds)
        except TimeoutError:
            return AtBase(self.found.name, problem=_NO_TIME)
        if is_same:
            return await self._instead(earlier, seeds, failed)
        there = await self._look_once(seeds)
        is_head = self.found.base.commit == self.found.repository.head
        return await self._before(there, earlier, seeds, failed) if is_head and there.fails_the_same(failed) else there

    async def _instead(self, earlier: Earlier, seeds: Sequence[Seeds], failed: Sequence[Outcome]) -> AtBase:
        """Nothing differs from the base."""
        if not earlier.commits:
            why = f" ({_SHALLOW})" if earlier.is_shallow else ""
            return AtBase(self.found.name, problem=f"nothing differs from it, and there is no earlier commit{why}")
        tried = await self._look_back(earlier.commits, seeds, failed)
        return replace(_deciding(tried), same_as=self.found.name, tried=tried)

    async def _before(
        self, there: AtBase, earlier: Earlier, seeds: Sequence[Seeds], failed: Sequence[Outcome]
    ) -> AtBase:
        """It fails the same way at HEAD."""
        if not earlier.commits:
            missing = AtBase("an earlier commit", problem=_SHALLOW)
            return replace(there, tried=(there, missing)) if earlier.is_shallow else there
        tried = (there, *await self._look_back(earlier.commits, seeds, failed))
        return replace(_deciding(tried), tried=tried)

    async def _look_back(
        self, earlier: Sequence[Base], seeds: Sequence[Seeds], failed: Sequence[Outcome]
    ) -> tuple[AtBase, ...]:
        """Until a commit where it does not fail in the same way."""
        runner = self.runner.within(SHARE_FOR_STEPS * self.runner.deadline.left)
        tried: list[AtBase] = []
        for each in earlier:
            there = replace(self, runner=runner, found=replace(self.found, base=each))
            tried.append(await there._look_once(seeds))
            if not tried[-1].fails_the_same(failed):
                break
        return tuple(tried)

    async def _look_once(self, seeds: Sequence[Seeds]) -> AtBase:
        found = self.found
        assert found.base is not None
        assert found.repository is not None
        self.say(f"copying the tree of {found.name}")
        try:
            async with AsyncExitStack() as stack:
                with anyio.fail_after(self.runner.deadline.left):
                    copy = await stack.enter_async_context(copy_of(found.repository, found.base.commit))
                moved = self.runner.at(copy.tree, instead_of=found.repository.top)
                there = AtBase(found.name, left_out=copy.left_out, base=found.base)
                return await replace(self, runner=moved)._look_in_copy(there, seeds)
        except CannotTell as error:
            return AtBase(found.name, problem=f"not tried: {error}")
        except TimeoutError:
            return AtBase(found.name, problem=_NO_TIME)

    async def _look_in_copy(self, there: AtBase, seeds: Sequence[Seeds]) -> AtBase:
        for number, each in enumerate(seeds, start=1):
            if not _has_file(self.runner.config.root, self.node_id):
                # The runs before this one may have removed it.
                return there if there.outcomes else replace(there, problem="its file is not there")
            self.say(f"at {there.name} {number}/{len(seeds)}")
            try:
                seen = await alone.once(each.apply(self.runner), self.node_id)
            except OutOfTime:
                break
            there = replace(there, outcomes=(*there.outcomes, seen), problem=_problem(seen))
            if seen.failed or there.problem is not None:
                return there
        return there if there.outcomes else replace(there, problem=_NO_TIME)


def _deciding(tried: Sequence[AtBase]) -> AtBase:
    """The earliest with outcomes."""
    return next((each for each in reversed(tried) if each.problem is None), tried[-1])


async def _earlier(repository: Repository, base: Base) -> Earlier:
    commits = await differences.ancestors(repository, base, STEPS_BACK)
    return Earlier(commits, not commits and await repository.is_shallow())


async def _is_same(repository: Repository, base: Base, node_id: str) -> bool:
    """Whether the test runs the same code there. At HEAD also if nothing that is not committed can reach it."""
    changes = reach.without_caches((await differences.since(repository, base)).changes)
    if base.name != "HEAD" or not (changes.files or changes.outside):
        return not (changes.files or changes.outside)
    reached = await in_thread(partial(reach.reach_of, changes, repository.config.root))
    return node_id.partition("::")[0] in reached.unreached


def _has_file(root: Path, node_id: str) -> bool:
    """False if a link leads out of the project there, which is refused wherever it comes from."""
    file = root / node_id.partition("::")[0]
    return file.is_file() and file.resolve().is_relative_to(root.resolve())


async def lines_changed(found: Found) -> Lines:
    """Those that differ from the base; none if that cannot be told."""
    if found.repository is None or found.base is None:
        return {}
    try:
        return (await differences.since(found.repository, found.base, lines=True)).changed_lines()
    except CannotTell:
        return {}


def _problem(seen: Outcome) -> str | None:
    if seen.elsewhere is not None:
        return f"says nothing, because it imported {seen.elsewhere}"
    return None if seen.is_known else seen.words
