"""The test alone: how often, with which seeds, and whether these decide. The runs are made up here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation import repetitions
from pytest_mcp.investigation.outcome import Outcome, pattern
from pytest_mcp.investigation.repetitions import HASH_SEED, Alone, Seeds
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.events import Seeded
from pytest_mcp.run.run import Run
from tests.support.invented.records import execution, one_test, phase, session

TEST = "test_a.py::test_it"

# Whether the test fails with this hash seed and this seed of pytest-randomly, in its nth run.
Rule = Callable[[int, int, int], bool]


def never(_hash: int, _random: int, _number: int) -> bool:
    return False


@dataclass(frozen=True)
class MadeUp(Runner):
    """Runs nothing. As pytest-randomly does, it takes another seed in every run, unless it is given one."""

    rule: Rule = field(default=never)
    most: int = 1000
    runs: list[Seeds] = field(default_factory=list)

    async def run(
        self, ids: Sequence[str] | None, *, paths: Sequence[str] = (), trace: Any = None, calls: Any = None
    ) -> Run[ExecuteTests]:
        assert (ids, paths, trace, calls) == ([TEST], (), None, None)
        if len(self.runs) == self.most:
            raise OutOfTime
        given = [int(option.partition("=")[2]) for option in self.options]
        seeds = Seeds(int(self.variables.get(HASH_SEED, 0)), (given or [100 + len(self.runs)])[0])
        self.runs.append(seeds)
        failed = self.rule(seeds.hash or 0, seeds.random or 0, len(self.runs))
        told = one_test(TEST, *([phase(TEST)] if failed else []))
        return execution(session(Seeded(seeds.random or 0), told, selected=1))


def made_up(tmp_path: Path, rule: Rule, environment: dict[str, str] | None = None, **settings: Any) -> MadeUp:
    config = configure(Options(root=str(tmp_path)), environment or {})
    return MadeUp(config, Candidate(Path("python"), ""), Deadline.after(60), rule=rule, **settings)


async def test_it_runs_as_often_as_asked_each_time_with_another_hash_seed(tmp_path: Path) -> None:
    words = list[str]()
    runner = made_up(tmp_path, never, on_step=words.append)

    seen = await repetitions.repeat(runner, TEST, repetitions.planned(runner, 5))

    assert pattern(seen.outcomes) == "PPPPP"
    assert len({seeds.hash for seeds in runner.runs}) == 5
    assert seen.seeds == tuple(runner.runs)
    assert words[-1] == "alone 5/5: PPPPP"


@pytest.mark.parametrize(("stops_early", "letters"), [(True, "PPF"), (False, "PPFPPP")])
async def test_it_stops_once_both_outcomes_were_seen_unless_the_caller_wants_all_runs(
    tmp_path: Path, stops_early: bool, letters: str
) -> None:
    runner = made_up(tmp_path, lambda _hash, _random, number: number == 3)

    seen = await repetitions.repeat(runner, TEST, repetitions.planned(runner, 6), stops_early=stops_early)

    assert pattern(seen.outcomes) == letters


async def test_a_hash_seed_of_the_operator_is_kept(tmp_path: Path) -> None:
    runner = made_up(tmp_path, never, {HASH_SEED: "0"})

    seen = await repetitions.repeat(runner, TEST, repetitions.planned(runner, 2))

    assert [seeds.hash for seeds in seen.seeds] == [None, None]
    assert HASH_SEED not in runner.variables


async def test_what_was_seen_when_the_time_was_over_is_kept(tmp_path: Path) -> None:
    runner = made_up(tmp_path, never, most=3)

    seen = await repetitions.repeat(runner, TEST, repetitions.planned(runner, 5))

    assert (pattern(seen.outcomes), seen.wanted) == ("PPP", 5)


FAILING, PASSING = Seeds(1, 11), Seeds(2, 12)
MIXED = Alone((Outcome("P"), Outcome("F")), (PASSING, FAILING), 5)


@pytest.mark.parametrize(
    ("rule", "words", "is_shown"),
    [
        (lambda hash_seed, _random, _number: hash_seed == 1, "the seed decides", True),
        (lambda _hash, random_seed, _number: random_seed == 11, "the seed decides", True),
        (lambda _hash, _random, number: number % 2 == 0, "the seed does not decide", False),
        (lambda _hash, _random, _number: True, f"failed in 4 of 4 runs with {FAILING}", True),
    ],
)
async def test_seeds_that_decide_are_told(tmp_path: Path, rule: Rule, words: str, is_shown: bool) -> None:
    known = await repetitions.reproduce(made_up(tmp_path, rule), TEST, MIXED)

    assert known is not None
    assert words in known.words
    assert known.seeds == (FAILING if is_shown else None)
    assert FAILING.command(TEST) == f"PYTHONHASHSEED=1 python -m pytest --randomly-seed=11 {TEST}"


async def test_seeds_that_there_is_no_time_to_try_again_are_named_and_not_said_to_decide(tmp_path: Path) -> None:
    known = await repetitions.reproduce(made_up(tmp_path, never, most=0), TEST, MIXED)

    assert known is not None
    assert known.seeds is None
    assert f"failed with {FAILING}, passed with {PASSING}" in known.words


async def test_without_a_pass_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A plugin has repeated the test within one run."""
    repeated = Alone((Outcome("R"),), (FAILING,), 5)

    assert repeated.is_mixed
    assert await repetitions.reproduce(made_up(tmp_path, never), TEST, repeated) is None
