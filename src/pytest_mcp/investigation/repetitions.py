"""The test alone, several times, each time in a fresh process.

Each run gets another hash seed, so that an order of sets can show itself and be reproduced. Random numbers are seeded
by pytest-randomly, if the project has it, and its seed is recorded.
"""

import shlex
from dataclasses import dataclass, replace
from secrets import SystemRandom
from typing import NamedTuple

import anyio

from pytest_mcp.investigation.outcome import Outcome, outcome_of, pattern
from pytest_mcp.investigation.runner import OutOfTime, Runner

HASH_SEED = "PYTHONHASHSEED"
MAX_SEED = 9_999
# So many runs are tried as long as there is any time.
LEAST_ALONE = 2
# The share of the remaining time that all runs alone may take together, once there are two of them, and the share of
# one run, which has so many seconds at least: a test that hangs must not take it all.
SHARE = 0.5
SHARE_OF_ONE = 0.4
LEAST_FOR_ONE = 10
# After so many runs without an outcome there are no more.
MAX_UNKNOWN = 2
# How often seeds are tried again before they are said to decide: chance alone does that in 1 of 64 cases.
TRIES_OF_SEEDS = 3


@dataclass(frozen=True)
class Seeds:
    """None where nobody chose one: the operator has fixed the hash seed, or there is no pytest-randomly."""

    hash: int | None
    random: int | None = None

    def apply(self, runner: Runner) -> Runner:
        variables = {} if self.hash is None else {HASH_SEED: str(self.hash)}
        return runner.adding(*self.options, **variables)

    @property
    def options(self) -> list[str]:
        return [] if self.random is None else [f"--randomly-seed={self.random}"]

    def __str__(self) -> str:
        return " and ".join([*self._variable, *self.options])

    def command(self, node_id: str) -> str:
        """What a person would type."""
        return " ".join([*self._variable, "python -m pytest", *self.options, shlex.quote(node_id)])

    @property
    def _variable(self) -> list[str]:
        return [] if self.hash is None else [f"{HASH_SEED}={self.hash}"]


class Reproduction(NamedTuple):
    """What is known about the seeds, one sentence; and those with which it failed each time."""

    words: str
    seeds: Seeds | None = None


@dataclass(frozen=True)
class Alone:
    outcomes: tuple[Outcome, ...]
    seeds: tuple[Seeds, ...]
    # How many runs were asked for.
    wanted: int
    # The seeds of all of them.
    planned: tuple[Seeds, ...] = ()
    reproduction: Reproduction | None = None

    @property
    def is_mixed(self) -> bool:
        """A plugin that repeats failed tests shows both outcomes in one run."""
        both = any(each.failed for each in self.outcomes) and any(each.passed for each in self.outcomes)
        return both or any(each.letter == "R" for each in self.outcomes)

    @property
    def is_stuck(self) -> bool:
        """Whether more runs would tell nothing more."""
        unknown = sum(not each.is_known for each in self.outcomes)
        return any(each.letter in "RC" for each in self.outcomes) or unknown >= MAX_UNKNOWN

    def first(self, *, failed: bool) -> Seeds:
        """The seeds of the first run that failed, or that passed."""
        made = zip(self.seeds, self.outcomes, strict=True)
        return next(seeds for seeds, each in made if (each.failed if failed else each.passed))


async def repeat(runner: Runner, node_id: str, alone: Alone, *, stops_early: bool = True) -> Alone:
    """Stops once it has both passed and failed, unless the caller wants all runs; for the rate."""
    until = anyio.current_time() + SHARE * runner.deadline.left
    while len(alone.outcomes) < alone.wanted:
        is_late = len(alone.outcomes) >= LEAST_ALONE and anyio.current_time() > until
        if is_late or alone.is_stuck or (stops_early and alone.is_mixed):
            break
        try:
            alone = await once_more(runner, node_id, alone)
        except OutOfTime:
            break
    return alone


def planned(runner: Runner, runs: int) -> Alone:
    return Alone((), (), runs, tuple(hash_seeds(runner, runs)))


async def once_more(runner: Runner, node_id: str, alone: Alone) -> Alone:
    """Raises OutOfTime."""
    number = len(alone.outcomes)
    chosen = alone.planned[number]
    seen = await run_once(chosen.apply(runner), node_id)
    seeds = (*alone.seeds, Seeds(chosen.hash, seen.random_seed))
    alone = replace(alone, outcomes=(*alone.outcomes, seen), seeds=seeds)
    runner.on_step(f"alone {number + 1}/{alone.wanted}: {pattern(alone.outcomes)}")
    return alone


async def run_once(runner: Runner, node_id: str) -> Outcome:
    limited = runner.within(max(LEAST_FOR_ONE, SHARE_OF_ONE * runner.deadline.left))
    return outcome_of(await limited.run([node_id]), node_id)


def hash_seeds(runner: Runner, number: int) -> list[Seeds]:
    if runner.config.environment.get(HASH_SEED, "random") != "random":
        return [Seeds(None)] * number
    return [Seeds(seed) for seed in SystemRandom().sample(range(1, MAX_SEED + 1), number)]


async def reproduce(runner: Runner, node_id: str, alone: Alone) -> Reproduction | None:
    """Whether the seeds decide: they do if each outcome repeats with its own seeds. None if nothing can be compared."""
    if not any(each.passed for each in alone.outcomes):
        return None
    failing, passing = alone.first(failed=True), alone.first(failed=False)
    if not str(failing):
        return None
    runner.on_step(f"with {failing} again")
    times = f"{TRIES_OF_SEEDS + 1} of {TRIES_OF_SEEDS + 1}"
    try:
        if not await _repeats(runner, node_id, failing, failed=True):
            return Reproduction("the seed does not decide")
        if not await _repeats(runner, node_id, passing, failed=False):
            return Reproduction(f"failed in {times} runs with {failing}", failing)
    except OutOfTime:
        return Reproduction(f"failed with {failing}, passed with {passing}; there was no time to repeat that")
    words = f"fails with {failing} ({times} runs), passes with {passing} ({times}): the seed decides"
    return Reproduction(words, failing)


async def _repeats(runner: Runner, node_id: str, seeds: Seeds, *, failed: bool) -> bool:
    for _ in range(TRIES_OF_SEEDS):
        seen = await run_once(seeds.apply(runner), node_id)
        if not (seen.failed if failed else seen.passed):
            return False
    return True
