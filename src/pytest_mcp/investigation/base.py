"""The test at the base: in a copy of the tree of another commit.

In come a ref and the test; out come its outcomes there. A test that is not there, cannot be collected there, or that
tested other code than the copy's has no outcome: the reason is told. How the copy is made is decided in `tree_copy`.
"""

from collections.abc import Hashable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.changes import changed_lines, differences, git_commands, references
from pytest_mcp.changes.changed_lines import Lines
from pytest_mcp.changes.git_commands import CannotTell, Refused, Repository
from pytest_mcp.changes.references import Base
from pytest_mcp.changes.tree_copy import copy_of
from pytest_mcp.config.model import Config
from pytest_mcp.investigation import alone
from pytest_mcp.investigation.alone import Say, Seeds
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.running.attempt import Deadline

_NO_TIME = "not tried, the time was over"


@dataclass(frozen=True)
class AtBase:
    """`problem` says why nothing follows from the outcomes. `left_out` has paths that the copy lacks."""

    name: str
    outcomes: tuple[Outcome, ...] = ()
    problem: str | None = None
    left_out: tuple[str, ...] = ()

    def fails_the_same(self, causes: set[Hashable]) -> bool:
        return self.problem is None and any(each.failed and each.cause in causes for each in self.outcomes)


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
            found = await git_commands.find(config)
            return Found(await references.resolve(found, ref), found)
    except TimeoutError:
        return Found(None, None, _NO_TIME)
    except (Refused, CannotTell) as error:
        if ref is not None:
            raise InvalidParams([Fault("base", str(error), "value_error", ref)]) from error
        return Found(None, None, f"not tried: {error}")


async def look(runner: Runner, node_id: str, found: Found, seeds: list[Seeds], say: Say) -> AtBase:
    """One run for each of the seeds, until it fails."""
    if found.base is None or found.repository is None:
        return AtBase(found.name, problem=found.problem)
    say(f"copying the tree of {found.name}")
    try:
        async with AsyncExitStack() as stack:
            with anyio.fail_after(runner.deadline.left):
                copy = await stack.enter_async_context(copy_of(found.repository, found.base.commit))
            moved = runner.at(copy.tree, instead_of=found.repository.top)
            there = AtBase(found.name, left_out=copy.left_out)
            return await _look_in_copy(moved, node_id, there, seeds, say)
    except CannotTell as error:
        return AtBase(found.name, problem=f"not tried: {error}")
    except TimeoutError:
        return AtBase(found.name, problem=_NO_TIME)


async def _look_in_copy(runner: Runner, node_id: str, there: AtBase, seeds: list[Seeds], say: Say) -> AtBase:
    for number, each in enumerate(seeds, start=1):
        if not _has_file(runner.config.root, node_id):
            # The runs before this one may have removed it.
            return there if there.outcomes else replace(there, problem="its file is not there")
        say(f"at {there.name} {number}/{len(seeds)}")
        try:
            seen = await alone.once(each.apply(runner), node_id)
        except OutOfTime:
            break
        there = replace(there, outcomes=(*there.outcomes, seen), problem=_problem(seen))
        if seen.failed or there.problem is not None:
            return there
    return there if there.outcomes else replace(there, problem=_NO_TIME)


def _has_file(root: Path, node_id: str) -> bool:
    """False if a link leads out of the project there, which is refused wherever it comes from."""
    file = root / node_id.partition("::")[0]
    return file.is_file() and file.resolve().is_relative_to(root.resolve())


async def lines_changed(found: Found) -> Lines:
    """Those that differ from the base; none if that cannot be told."""
    if found.repository is None or found.base is None:
        return {}
    try:
        return changed_lines.changed(await differences.since(found.repository, found.base, lines=True))
    except CannotTell:
        return {}


def _problem(seen: Outcome) -> str | None:
    if seen.elsewhere is not None:
        return f"nothing follows: it imported {seen.elsewhere}"
    return None if seen.is_known else seen.words
