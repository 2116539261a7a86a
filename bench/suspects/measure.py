"""One case, asked of the steps of an investigation that answer it.

With a base: alone, at the base, and traced at both. Without one: the suspects. The rest of an investigation (repeats,
the suite's order) changes nothing of these answers and takes most of the time.
"""

import re
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from bench.shell import ENVIRONMENT, Wrong
from bench.suspects import histories
from bench.suspects.corpus import Case
from bench.suspects.results import Entry
from bench.suspects.scopes import plain
from bench.suspects.truth import MODULE
from bench.tokens import tokenizer
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation import repetitions, suspects
from pytest_mcp.investigation.base import BaseSearch, find_base
from pytest_mcp.investigation.breaking_commit import CommitSearch
from pytest_mcp.investigation.difference.search import Differences, DifferenceSearch
from pytest_mcp.investigation.difference.side import Side
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.repetitions import Seeds
from pytest_mcp.investigation.result import FirstDifference
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.process.job import CallTrace, Trace
from pytest_mcp.python import interpreter
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.run import Run

# For all runs of one case, in seconds.
LONGEST = 900
# A bug that only some orders of a set show must fail in one of so many runs.
MAX_SEEDS = 8
# The texts of lines stand between backquotes.
_LINE = re.compile(r"`[^`]*`|\bline (\d+)")
PLAIN, TRACED, OTHER = "plain", "traced", "other"


@dataclass(frozen=True)
class Metered(Runner):
    """Keeps the CPU seconds of each run, with those of its supervisor."""

    spent: list[tuple[str, float]] = field(default_factory=list)

    async def run(
        self,
        ids: Sequence[str] | None,
        *,
        paths: Sequence[str] = (),
        trace: Trace | None = None,
        calls: CallTrace | None = None,
    ) -> Run[ExecuteTests]:
        before = _seconds()
        run = await super().run(ids, paths=paths, trace=trace, calls=calls)
        is_usual = calls is not None and not calls["lines_of"] and not calls["imports"]
        self.spent.append((TRACED if is_usual else OTHER if calls or trace else PLAIN, _seconds() - before))
        return run

    def last(self, kind: str) -> float:
        return next((round(seconds, 3) for what, seconds in reversed(self.spent) if what == kind), 0.0)


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measure(case: Case, *, dump: Path | None) -> Entry:
    with case.put():
        config = configure(Options(root=str(case.place.project), python=str(case.place.python)), ENVIRONMENT)
        candidates = [candidate async for candidate in interpreter.candidates(config, config.root)]
        runner = Metered(config, candidates[0], Deadline.after(LONGEST))
        if case.base is None:
            return await suspected(case, runner)
        seeds, failing = await failure(case, runner)
        if case.kind == histories.KIND:
            return await broken_by(case, runner, seeds, failing)
        found = await differences(case, runner, seeds, failing)
        # The runs before it compiled what they imported.
        await repetitions.run_once(seeds.apply(runner), case.node_id)
    if dump is not None:
        (dump / f"{case.name}.txt").write_text(described(case, found), encoding="utf-8")
    wanted = {(file, short(name)) for file, name in case.faulty}
    named = [(each.file, each.function) for each in found.found]
    text = "[" + ",".join(each.model_dump_json() for each in found.found) + "]"
    mentioned = any(mentions(text, name) for _, name in wanted)
    entry = judged(case, named, runner.last(PLAIN), runner.last(TRACED))
    return replace(
        entry,
        problem=found.problem,
        is_named=entry.place is not None or mentioned,
        is_line=bool(found.found) and is_line(case, found.found[0]),
        tokens=tokenizer.count([text])[0] if named else 0,
    )


async def failure(case: Case, runner: Runner) -> tuple[Seeds, Outcome]:
    for seeds in repetitions.hash_seeds(runner, MAX_SEEDS):
        outcome = await repetitions.run_once(seeds.apply(runner), case.node_id)
        if outcome.failed:
            return seeds, outcome
    raise Wrong(f"{case.name}: its test did not fail: {outcome.letter} {outcome.words}")


async def differences(case: Case, runner: Runner, seeds: Seeds, failing: Outcome) -> Differences:
    now = seeds.apply(runner)
    base = await find_base(runner.config, case.base, runner.deadline)

    async def compare(there: Runner) -> Differences:
        sides = Side(there, "at the base"), Side(now, "here", failing)
        return await DifferenceSearch(*sides, case.node_id).run()

    at_base = await BaseSearch(runner, case.node_id, base, compare).run([seeds], [failing])
    return at_base.differences or Differences(problem=at_base.problem or "it does not pass at the base")


async def broken_by(case: Case, runner: Metered, seeds: Seeds, failing: Outcome) -> Entry:
    base = await find_base(runner.config, case.base, runner.deadline)
    search = BaseSearch(runner, case.node_id, base)
    there = await search.run([seeds], [failing])
    before = len(runner.spent)
    assert base.repository is not None
    broken = await CommitSearch(search, base.repository, seeds, [failing]).run(there)
    named = [(histories.KIND, broken.by.subject.rpartition(" ")[0])] if broken.by else []
    entry = judged(replace(case, faulty=frozenset([(histories.KIND, histories.PLANTED)])), named, 0, 0)
    return replace(entry, runs=len(runner.spent) - before, problem=broken.words)


async def suspected(case: Case, runner: Runner) -> Entry:
    """As for a test whose changes are unknown; and the time of the traced tests, traced and plain."""
    run = await suspects.traced(runner, [case.node_id], everything=True)
    again = await runner.run([*run.ledger.tests], paths=[case.tests])
    named = [(each.file, each.function) for each in suspects.suspects_of(run, case.node_id, {})]
    times = [sum(record.duration for record in each.ledger.completed) for each in (again, run)]
    return judged(case, named, *(round(seconds, 3) for seconds in times))


def judged(case: Case, named: Sequence[tuple[str, str]], plain_seconds: float, traced_seconds: float) -> Entry:
    wanted = {(file, short(name)) for file, name in case.faulty}
    places = [number for number, (file, name) in enumerate(named, 1) if (file, short(name)) in wanted]
    entry = Entry(
        date=datetime.now(UTC).date().isoformat(),
        kind=case.kind,
        library=case.library,
        holdout=case.holdout,
        faulty=tuple(sorted(f"{file}:{name}" for file, name in case.faulty)),
        named=tuple(f"{file}:{name}" for file, name in named),
        place=places[0] if places else None,
        plain=plain_seconds,
        traced=traced_seconds,
    )
    print(f"{case.name}: {case.kind}: {entry.place or 'missed'}", file=sys.stderr, flush=True)
    return entry


def short(name: str) -> str:
    """Of `outer.<locals>.inner` an answer may leave out the middle."""
    return plain(name).replace(".<locals>", "")


def mentions(text: str, name: str) -> bool:
    return name != MODULE and bool(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]*\w)", text))


def is_line(case: Case, call: FirstDifference) -> bool:
    """The line where both runs part, or the one that follows it on either side."""
    named = {int(number) for number in _LINE.findall(call.parts_at or "") if number}
    return bool(named & (case.now.get(call.file, frozenset()) | case.then.get(call.file, frozenset())))


def described(case: Case, found: Differences) -> str:
    parts = [f"{case.node_id}, base {case.base}", *sorted(f"faulty: {file}: {name}" for file, name in case.faulty)]
    parts += [f"lines now: {file}: {sorted(lines)}" for file, lines in case.now.items()]
    return "\n".join([*parts, *(each.model_dump_json(indent=1) for each in found.found), found.problem or ""])
