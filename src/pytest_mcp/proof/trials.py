"""Runs the tests and the mutants of a change in a copy of the checkout: in forks, and some in fresh processes.

A process that does not survive a mutant is started again without it. What could not be tried is counted, never guessed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from pytest_mcp.investigation.runner import LEAST_SECONDS, OutOfTime, Runner
from pytest_mcp.process.job import MutantJob, Proof
from pytest_mcp.proof.mutants import Mutant
from pytest_mcp.run.events import ChangedCode, CollectionFailed, Probed, Tried
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps

# For fresh processes: so many mutants, and this share of the time that is left.
MAX_FRESH = 8
SHARE_OF_FRESH = 0.25
FRESH_SECONDS = 30.0
# What one fresh run may take, besides so many times what its tests take.
START_SECONDS, TIMES = 10.0, 5.0

OnLedger = Callable[[Ledger], None]


@dataclass
class Trials:
    """What became of the tests and of each mutant, by its place in the list."""

    mutants: Sequence[Mutant]
    probed: dict[str, Probed] = field(default_factory=dict)
    tried: dict[int, Tried] = field(default_factory=dict)
    code: ChangedCode | None = None
    failures: list[CollectionFailed] = field(default_factory=list)
    selected: int = 0
    starts_processes: bool = False

    def places(self, *outcomes: str) -> list[int]:
        return [place for place, each in self.tried.items() if each.outcome in outcomes]

    @property
    def killed(self) -> list[int]:
        return self.places("killed")

    @property
    def killers(self) -> set[str]:
        return {test for place in self.killed for test in self.tried[place].tests}

    @property
    def not_tried(self) -> int:
        """Without those that are no mutants after all, and those of lines that no test runs."""
        settled = len(self.places("killed", "survived", "same", "unseen"))
        return len(self.mutants) - settled


@dataclass(frozen=True)
class ForkedTrials:
    runner: Runner
    paths: Sequence[str]
    lines: dict[str, str]
    first: Sequence[str]
    # At most so many mutants are tried; of each a fork is begun before so many seconds have passed.
    most: int
    seconds: float
    on_ledger: OnLedger

    async def run(self, trials: Trials) -> bool:
        """False if a mutant has ended it or spoiled the copy: it takes a new one to go on. Raises OutOfTime."""
        left = [place for place in range(len(trials.mutants)) if place not in trials.tried]
        ledger = await self._once(trials, left)
        trials.tried |= {each.number: each for each in ledger.tried}
        trials.code = trials.code or ledger.changed_code
        trials.failures = ledger.collection_failures
        trials.selected = ledger.selected or 0
        trials.probed |= {each.id: each for each in ledger.probed if each.id not in trials.probed}
        if ledger.probing_ended is None:
            return True
        trials.starts_processes = ledger.probing_ended.starts_processes
        untried = [place for place in left if place not in trials.tried]
        if ledger.returned is None and not ledger.ending and untried:
            trials.tried[untried[0]] = Tried(untried[0], "harmful", "", [], 0, 0.0)
            return False
        return not ledger.tried or ledger.tried[-1].outcome != "harmful"

    async def _once(self, trials: Trials, places: Sequence[int]) -> Ledger:
        known: list[Ledger] = []

        def on_progress(progress: Ledger | Steps) -> None:
            if isinstance(progress, Ledger):
                known[:] = [progress]
                self.on_ledger(progress)

        proof: Proof = {
            "lines": self.lines,
            "mutants": [_job(trials.mutants[place], place) for place in places],
            "most": self.most - len(trials.places("killed", "survived", "fresh", "unstable")),
            "first": [*self.first],
            "plain_seconds": self.seconds,
            "seconds": self.seconds,
            "each": False,
            "limits": {},
        }
        run = await replace(self.runner, on_progress=on_progress).prove(self.paths, proof)
        return run.ledger


def _job(mutant: Mutant, place: int) -> MutantJob:
    return {
        "number": place,
        "file": mutant.file,
        "line": mutant.first,
        "last": mutant.last,
        "start": mutant.start,
        "end": mutant.end,
        "text": mutant.text,
    }


@dataclass(frozen=True)
class FreshTrials:
    """For what a fork cannot show: the mutant on disk, its tests in a new process."""

    runner: Runner
    sources: dict[str, bytes]

    async def run(self, trials: Trials) -> None:
        end = anyio.current_time() + min(FRESH_SECONDS, SHARE_OF_FRESH * self.runner.deadline.left)
        # What runs during the imports comes last: its survivors tell least.
        waiting = sorted(trials.places("fresh"), key=lambda place: not trials.mutants[place].function)
        for place in waiting[:MAX_FRESH]:
            if anyio.current_time() + LEAST_SECONDS > end:
                return
            try:
                trials.tried[place] = await self._tried(trials.mutants[place], trials.tried[place], trials)
            except OutOfTime:
                return

    async def _tried(self, mutant: Mutant, told: Tried, trials: Trials) -> Tried:
        seconds = START_SECONDS + TIMES * sum(trials.probed[test].seconds for test in told.tests)
        runner = self.runner.within(seconds)
        failed = await self.failed(runner, mutant, told.tests)
        if failed is None:
            return told._replace(outcome="survived")
        if await self.failed(runner, None, told.tests) is not None:
            return told._replace(outcome="unstable", why="its tests fail in a fresh process without it too")
        return told._replace(outcome="killed", tests=[failed] if failed else [])

    async def failed(self, runner: Runner, mutant: Mutant | None, tests: Sequence[str]) -> str | None:
        """The first test that does not pass, "" if none can be named; None if all pass."""
        for path, source in self.sources.items():
            _write(runner.config.root / path, source)
        if mutant is not None:
            _write(runner.config.root / mutant.file, mutated(self.sources[mutant.file], mutant))
        run = await runner.run(list(tests))
        for test in tests:
            record = run.ledger.tests.get(test)
            if record is None or record.outcome not in ("passed", "skipped"):
                return test if record is not None else ""
        return None


def mutated(source: bytes, mutant: Mutant) -> bytes:
    return source[: mutant.start] + mutant.text.encode() + source[mutant.end :]


def _write(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)
