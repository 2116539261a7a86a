"""The test at the base: in a copy of the checkout with what changed since then put back.

Where nothing differs from the base, nothing was compared, and where it fails in the same way at HEAD, the last commit
may have the bug: earlier commits are tried until it does not. A test that is not there, cannot be collected there, or
that tested other code than the copy's has no outcome, and a reason; nor has one that fails in a copy that lacks
something. What the copy has is decided in `changed.base_tree`.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import anyio

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.changed import git_commands, reach, working_tree
from pytest_mcp.changed.base_tree import Tree, base_tree, is_part_of_change
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused, Repository
from pytest_mcp.changed.working_tree import Base, Lines
from pytest_mcp.config.model import Config
from pytest_mcp.investigation.difference.search import Differences
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.repetitions import Seeds, run_once
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.investigation.way import compare_ways
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.text import few, label

_NO_TIME = "not tried, the time was over"
_SHALLOW = "the clone is shallow: git fetch --unshallow gets the others"
# How many commits to go back, and the share of the remaining time for it.
STEPS_BACK = (1, 2, 4, 8, 16, 32)
SHARE_FOR_STEPS = 0.4


@dataclass(frozen=True)
class AtBase:
    """`problem` says why nothing follows from the outcomes."""

    name: str
    outcomes: tuple[Outcome, ...] = ()
    problem: str | None = None
    # Why it is another failure, although statement and values are the same; and whether its way could be compared.
    other: str | None = None
    is_way_known: bool = True
    base: Base | None = None
    # The name of the base, if nothing differs from it.
    same_as: str | None = None
    # If earlier commits were tried: all that were, and this is the one that decides.
    tried: "tuple[AtBase, ...]" = ()
    # What the test does there and not here, if it passes there and that was looked for.
    differences: Differences | None = None

    @property
    def passes(self) -> bool:
        """A test that is skipped there says nothing about the code."""
        return self.problem is None and bool(self.outcomes) and all(each.letter == "P" for each in self.outcomes)

    @property
    def is_untried(self) -> bool:
        return self.problem == _NO_TIME

    @property
    def is_only_head(self) -> bool:
        """Whether commits before HEAD were wanted too, and none of them has an outcome."""
        return self.same_as is None and bool(self.tried) and all(each.problem for each in self.tried[1:])

    def fails_the_same(self, failed: Sequence[Outcome]) -> bool:
        """By the same statement, with the same values, on the same way through the project."""
        return self.other is None and self.looks_the_same(failed)

    def looks_the_same(self, failed: Sequence[Outcome]) -> bool:
        return self.problem is None and any(each.is_like(failed) for each in self.outcomes)


@dataclass(frozen=True)
class FoundBase:
    """The base that a call is about, or why there is none."""

    base: Base | None
    repository: Repository | None
    problem: str | None = None

    @property
    def name(self) -> str:
        return "the base" if self.base is None else _name(self.base)

    async def lines_changed(self) -> Lines:
        """Those that differ from the base; none if that cannot be told."""
        if self.repository is None or self.base is None:
            return {}
        try:
            return (await working_tree.since(self.repository, self.base, lines=True)).changed_lines()
        except CannotTell:
            return {}


async def find_base(config: Config, ref: str | None, deadline: Deadline) -> FoundBase:
    """Raises InvalidParams if a ref was given and cannot be used."""
    try:
        with anyio.fail_after(deadline.left):
            repository = await git_commands.open_repository(config)
            return FoundBase(await working_tree.resolve(repository, ref), repository)
    except TimeoutError:
        return FoundBase(None, None, _NO_TIME)
    except (ChangesRefused, CannotTell) as error:
        if ref is not None:
            raise InvalidParams([Fault("base", str(error), "value_error", ref)]) from error
        return FoundBase(None, None, f"not tried: {error}")


class Copy(NamedTuple):
    """Of the checkout, as long as it exists; `changed` are paths relative to the root."""

    tree: Tree
    runner: Runner
    changed: frozenset[str]


@asynccontextmanager
async def copied(runner: Runner, copy: AbstractAsyncContextManager[Tree]) -> AsyncIterator[Copy]:
    """Raises CannotTell and TimeoutError."""
    async with AsyncExitStack() as stack:
        with anyio.fail_after(runner.deadline.left):
            tree = await stack.enter_async_context(copy)
        root = runner.config.root.relative_to(tree.checkout)
        changed = frozenset(os.path.relpath(path, root) for path in tree.put_back)
        yield Copy(tree, runner.at(tree.top, instead_of=tree.checkout), changed)


@dataclass(frozen=True)
class BaseSearch:
    runner: Runner
    node_id: str
    found: FoundBase
    # Compares the test that passes there, while the copy exists.
    compare: Callable[[Runner], Awaitable[Differences]] | None = None

    async def run(self, seeds: Sequence[Seeds], failed: Sequence[Outcome] = ()) -> AtBase:
        """One run for each of the seeds, until it fails. `failed` is what is compared with."""
        base, repository, name = self.found.base, self.found.repository, self.found.name
        if base is None or repository is None:
            return AtBase(name, problem=self.found.problem)
        try:
            with anyio.fail_after(self.runner.deadline.left):
                is_same = await _is_same(repository, base, self.node_id)
                earlier = await working_tree.ancestors(repository, base, STEPS_BACK)
                is_shallow = not earlier and await repository.is_shallow()
        except (ChangesRefused, CannotTell):
            return await self.at(base, repository, seeds, failed)
        except TimeoutError:
            return AtBase(name, problem=_NO_TIME)
        tried = [] if is_same else [await self.at(base, repository, seeds, failed)]
        if tried and not (base.commit == repository.head and tried[0].fails_the_same(failed)):
            return tried[0]
        if not earlier and is_same:
            why = f" ({_SHALLOW})" if is_shallow else ""
            return AtBase(name, problem=f"nothing differs from it, and there is no earlier commit{why}")
        if not earlier:
            missing = AtBase("an earlier commit", problem=_SHALLOW)
            return replace(tried[0], tried=(*tried, missing)) if is_shallow else tried[0]
        tried += await self._back(earlier, repository, seeds, failed)
        # The earliest with outcomes decides.
        deciding = next((each for each in reversed(tried) if each.problem is None), tried[-1])
        return replace(deciding, same_as=name if is_same else None, tried=tuple(tried))

    async def _back(
        self, earlier: Sequence[Base], repository: Repository, seeds: Sequence[Seeds], failed: Sequence[Outcome]
    ) -> list[AtBase]:
        """At earlier commits, until it does not fail the same way."""
        back = replace(self, runner=self.runner.within(SHARE_FOR_STEPS * self.runner.deadline.left))
        tried: list[AtBase] = []
        for commit in earlier:
            # Ways are compared at the last of them: that decides, if it looks the same at all.
            tried.append(await back.at(commit, repository, seeds, failed if commit is earlier[-1] else ()))
            if not tried[-1].looks_the_same(failed):
                break
        return tried

    async def at(
        self, base: Base, repository: Repository, seeds: Sequence[Seeds], failed: Sequence[Outcome] = ()
    ) -> AtBase:
        """In the tree of one commit. What looks the same as `failed` is compared more closely."""
        there = AtBase(_name(base), base=base)
        self.runner.on_step(f"making the tree of {there.name}")
        try:
            async with copied(self.runner, base_tree(repository, base, is_part_of_change)) as copy:
                seen = _without(copy.tree, await self._in_copy(there, copy.runner, seeds))
                if seen.passes and self.compare is not None:
                    seen = replace(seen, differences=await self.compare(seeds[0].apply(copy.runner)))
                if not seen.looks_the_same(failed):
                    return replace(seen, is_way_known=False)
                seen = await self._compared(seen, copy, seeds[0])
            return seen if seen.other else await self._without_untracked(seen, copy.tree, repository, seeds[0])
        except CannotTell as error:
            return AtBase(there.name, problem=f"not tried: {error}")
        except (TimeoutError, OutOfTime):
            return AtBase(there.name, problem=_NO_TIME)

    async def _compared(self, seen: AtBase, copy: Copy, seeds: Seeds) -> AtBase:
        """With whether it takes the same way there as now."""
        self.runner.on_step(f"comparing its way at {seen.name}")
        way = await compare_ways(seeds.apply(self.runner), seeds.apply(copy.runner), self.node_id, copy.changed)
        other = None if way.other is None else f"on another way: {way.other}"
        return replace(seen, other=other, is_way_known=way.is_known)

    async def _without_untracked(self, seen: AtBase, tree: Tree, repository: Repository, seeds: Seeds) -> AtBase:
        """What git does not track may be part of the change or not: both ways it must fail."""
        assert seen.base is not None
        for paths, word, is_put_back in ((tree.kept, "without", _is_anything), (tree.removed, "with", _is_tracked)):
            if not paths:
                continue
            self.runner.on_step(f"at {seen.name} {word} untracked files")
            async with copied(self.runner, base_tree(repository, seen.base, is_put_back)) as copy:
                there = await self._in_copy(AtBase(seen.name), copy.runner, [seeds])
            if there.passes:
                return replace(seen, other=f"but it passes there {word} {few(map(label, paths))}")
        return seen

    async def _in_copy(self, there: AtBase, runner: Runner, seeds: Sequence[Seeds]) -> AtBase:
        for number, each in enumerate(seeds, start=1):
            if not has_file(runner, self.node_id):
                # The runs before this one may have removed it.
                return there if there.outcomes else replace(there, problem="its file is not there")
            runner.on_step(f"at {there.name} {number}/{len(seeds)}")
            try:
                seen = await run_once(each.apply(runner), self.node_id)
            except OutOfTime:
                break
            there = replace(there, outcomes=(*there.outcomes, seen), problem=_problem(seen))
            if seen.failed or there.problem is not None:
                return there
        return there if there.outcomes else replace(there, problem=_NO_TIME)


def _is_anything(_path: str, _is_untracked: bool) -> bool:
    return True


def _is_tracked(_path: str, is_untracked: bool) -> bool:
    return not is_untracked


def _without(tree: Tree, seen: AtBase) -> AtBase:
    """What fails may have failed for want of what the copy lacks; what passes did not need it."""
    if not tree.left_out or seen.passes or seen.problem is not None:
        return seen
    return replace(seen, problem=f"fails, but in a copy without {few(map(label, tree.left_out))} (too large)")


def _name(base: Base) -> str:
    short = base.commit[:7]
    return short if base.commit.startswith(base.name) else f"{base.name} ({short})"


async def _is_same(repository: Repository, base: Base, node_id: str) -> bool:
    """Whether the test runs the same code there. At HEAD also if nothing that is not committed can reach it.

    A test file that was edited is run there, so that the answer is about the edit, even if that has no effect.
    """
    comparison = await working_tree.since(repository, base)
    changes = reach.without_caches(comparison.changes)
    if base.name != "HEAD" or not (changes.files or changes.outside):
        return not (changes.files or changes.outside)
    file = node_id.partition("::")[0]
    return file not in changes.files and file in (await reach.tests_reached(comparison)).unreached


def has_file(runner: Runner, node_id: str) -> bool:
    """False if a link leads out of the project there, which is refused wherever it comes from."""
    root = runner.config.root
    file = root / node_id.partition("::")[0]
    return file.is_file() and file.resolve().is_relative_to(root.resolve())


def _problem(seen: Outcome) -> str | None:
    if seen.elsewhere is not None:
        return f"says nothing, because it imported {seen.elsewhere}"
    if seen.letter == "S":
        return f"it is skipped there ({seen.words})"
    return None if seen.is_known else seen.words
