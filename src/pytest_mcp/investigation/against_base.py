"""What became of the tests of a run since a git ref: which failures are new, old or changed, and what was mended.

The failing tests run once more twice, in the same order in one process each: here and at the base. Here, because one
that needs other tests to fail cannot be compared. At the base also the tests that passed, where that is quick. What
fails only for want of what a copy of the checkout lacks was not mended, and what fails there only because of untracked
files was not old.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.changed.base_tree import base_tree, plain_copy
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.investigation.base import Copy, FoundBase, copied, has_file
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.investigation.way import compared, traced_run, way_of
from pytest_mcp.report.report import BaseGroups
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, label

# Of more failing tests only the first are compared.
MAX_COMPARED = 200
# The tests that passed run at the base if they took no longer, and if so many times as long is left.
QUICK_SECONDS = 60.0
TIMES_LEFT = 3.0
_NO_TIME = "the time was over"


@dataclass(frozen=True)
class BaseComparison:
    groups: BaseGroups
    notices: list[str] = field(default_factory=list)


async def against_base(run: Run[ExecuteTests], runner: Runner, base: FoundBase) -> BaseComparison:
    """Where nothing can be told, the groups are not there and a notice says why."""
    if base.base is None or base.repository is None:
        return _untold("the base", base.problem or "not known")
    name = base.name
    try:
        async with copied(runner, base_tree(base.repository, base.base)) as copy:
            return await BaseRuns(runner, base, copy).compared(run)
    except CannotTell as error:
        return _untold(name, str(error))
    except (TimeoutError, OutOfTime):
        return _untold(name, _NO_TIME)


def _untold(name: str, why: str) -> BaseComparison:
    return BaseComparison(BaseGroups(name), [f"The failures could not be compared with {name}: {why}."])


class BaseRuns:
    """Of failing tests with the same in the tree of the base, as long as that exists."""

    def __init__(self, runner: Runner, base: FoundBase, copy: Copy) -> None:
        assert base.repository is not None
        assert base.base is not None
        self.here, self.there, self.name = runner, copy.runner, base.name
        self.repository, self.base = base.repository, base.base
        self.changed, self.kept, self.left_out = copy.changed, copy.tree.kept, copy.tree.left_out
        self.unknown: dict[str, str] = {}

    async def compared(self, run: Run[ExecuteTests]) -> BaseComparison:
        completed = run.ledger.completed
        failed = [record.node_id for record in completed if record.outcome in ("failed", "error")]
        groups: dict[str, list[str]] = {"new": [], "old": [], "changed": []}
        for node_id, group in (await self.groups_of(failed[:MAX_COMPARED])).items():
            groups[group].append(node_id)
        mended = await self._mended(run, [record.node_id for record in completed if record.outcome == "passed"])
        return BaseComparison(BaseGroups(self.name, **groups, mended=mended), self._notices(failed[MAX_COMPARED:]))

    async def groups_of(self, failed: Sequence[str]) -> dict[str, str]:
        """New, old or changed; why a test is of no group is noted."""
        groups = dict.fromkeys((name for name in failed if not has_file(self.there, name)), "new")
        left = [name for name in failed if name not in groups]
        if not left:
            return groups
        here, there = await traced_run(self.here, left), await traced_run(self.there, left)
        again = None
        for name in left:
            now, before = outcome_of(here, name), outcome_of(there, name)
            way_now, way_before = (way_of(run, name, self.changed) for run in (here, there))
            if before.failed and before.is_like([now]) and way_now != way_before:
                again = again or await traced_run(self.here, left)
            way = compared(way_now, way_before, None if again is None else way_of(again, name, self.changed))
            is_same = before.is_like([now]) and way.is_known and way.other is None
            if group := self._group(name, now, before, there, is_same=is_same):
                groups[name] = group
        for name in await self._owed_to_untracked([each for each in left if groups.get(each) in ("old", "changed")]):
            self.unknown[name] = f"they do not fail there without {few(map(label, self.kept))}"
            del groups[name]
        return {name: groups[name] for name in failed if name in groups}

    def _group(
        self, name: str, now: Outcome, before: Outcome, there: Run[ExecuteTests], *, is_same: bool
    ) -> str | None:
        """None if nothing follows; then it is noted why."""
        is_absent = name not in there.ledger.tests and before.letter == "?" and there.ledger.ended is not None
        why = None
        if not now.failed:
            why = "they pass without the other tests"
        elif before.elsewhere is not None:
            why = f"{before.elsewhere} was imported there"
        elif before.failed and self.left_out:
            why = f"the copy lacks {few(map(label, self.left_out))}"
        elif not (before.is_known or before.letter == "S" or is_absent):
            why = before.words
        if why is not None:
            self.unknown[name] = why
            return None
        return ("old" if is_same else "changed") if before.failed else "new"

    async def _mended(self, here: Run[ExecuteTests], passed: Sequence[str]) -> list[str] | None:
        """Those that fail at the base; None if they were not tried."""
        seconds = here.exit.duration
        if seconds > QUICK_SECONDS or self.here.deadline.left < TIMES_LEFT * seconds or self.left_out:
            return None
        there = [name for name in passed if has_file(self.there, name)]
        try:
            run = await self.there.run(there) if there else None
        except OutOfTime:
            return None
        if run is None or run.exit.timed_out:
            return [] if run is None else None
        broken = [name for name in there if name in run.ledger.tests and outcome_of(run, name).letter == "F"]
        try:
            if not broken:
                return []
            async with copied(self.here, plain_copy(self.repository)) as copy:
                unchanged = await copy.runner.run(there)
        except (CannotTell, OutOfTime, TimeoutError):
            return None
        return [name for name in broken if outcome_of(unchanged, name).passed]

    async def _owed_to_untracked(self, failed: Sequence[str]) -> list[str]:
        """Data that git does not track may be part of the change: those that do not fail at the base without it."""
        if not failed or not self.kept:
            return []
        async with copied(self.here, base_tree(self.repository, self.base, lambda _path, _new: True)) as copy:
            bare = await copy.runner.run(failed)
        return [name for name in failed if not outcome_of(bare, name).failed]

    def _notices(self, rest: Sequence[str]) -> list[str]:
        notices = [f"Only the first {MAX_COMPARED} failures were compared with {self.name}."] if rest else []
        if self.unknown:
            why = few(dict.fromkeys(self.unknown.values()))
            notices.append(f"{len(self.unknown)} failures could not be compared with {self.name}: {why}.")
        return notices
