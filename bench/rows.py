"""The rows of the benchmark: what is measured, what it is compared with, and its goal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import commands, history, measures, shards
from bench.projects import Suite
from bench.results import Measurement
from scripts.environments import BENCH


@dataclass(frozen=True)
class Scale:
    """The sizes of the suites, and a factor for the rounds of every row."""

    rounds: float = 1.0
    passing: int = 10_000
    failing: int = 1_000
    slow: int = 400
    few_calls: int = 10
    many_calls: int = 1_000
    recorded: int = 1_000_000
    growth: tuple[int, ...] = (10_000, 100_000)

    def times(self, rounds: int) -> int:
        return max(1, round(rounds * self.rounds))


# To check that everything works: every row takes seconds, and the figures mean nothing.
TRIAL = Scale(
    rounds=0.0,
    passing=20,
    failing=20,
    slow=4,
    few_calls=2,
    many_calls=6,
    recorded=2_000,
    growth=(20, 200),
)


@dataclass(frozen=True)
class Row:
    """`goal` is the largest accepted result: a ratio or, if there is a `unit`, a difference."""

    name: str
    what: str
    against: str
    goal: float | None
    rounds: int
    measure: Callable[[Path, Scale, int], Measurement]
    unit: str = ""

    def measured(self, folder: Path, scale: Scale) -> Measurement:
        return self.measure(folder, scale, scale.times(self.rounds))


SHELL = "`python -m pytest -q` in the same environment"
XDIST = "`python -m pytest -q -n 2`"
TWO = ("-n", "2")

ROWS = {
    row.name: row
    for row in (
        Row(
            "one-test",
            "one test, server warm, pytest alone installed",
            SHELL,
            0.28,
            31,
            lambda folder, _, rounds: measures.warm(folder, Suite(1), rounds),
        ),
        Row(
            "plugins",
            "one test, with xdist, cov, anyio, hypothesis and django installed",
            SHELL,
            0.70,
            21,
            lambda folder, _, rounds: measures.warm(folder, Suite(1), rounds, environment=BENCH["bench-plugins"]),
        ),
        Row(
            "one-failure",
            "one failing test with its traceback",
            SHELL,
            0.33,
            31,
            lambda folder, _, rounds: measures.warm(folder, Suite(1, failing=True), rounds),
        ),
        Row(
            "first-call",
            "one test, first call after the start",
            SHELL,
            1.25,
            21,
            lambda folder, _, rounds: measures.first_call(folder, rounds),
        ),
        Row(
            "many-tests",
            "10,000 passing tests",
            SHELL,
            1.03,
            7,
            lambda folder, scale, rounds: measures.warm(folder, Suite(scale.passing), rounds),
        ),
        Row(
            "many-failures",
            "1,000 failing tests, each with its own cause",
            SHELL,
            1.05,
            7,
            lambda folder, scale, rounds: measures.warm(folder, Suite(scale.failing, failing=True), rounds),
        ),
        Row(
            "workers",
            "400 tests of 50 ms with two workers",
            SHELL,
            0.60,
            5,
            lambda folder, scale, rounds: measures.parallel(folder, Suite(scale.slow, slow=True), rounds, flags=()),
        ),
        Row(
            "workers-xdist",
            "400 tests of 50 ms with two workers",
            XDIST,
            1.05,
            5,
            lambda folder, scale, rounds: measures.parallel(folder, Suite(scale.slow, slow=True), rounds, flags=TWO),
        ),
        Row(
            "discovery",
            "discovery of 10,000 tests",
            "`python -m pytest -q --collect-only`",
            1.00,
            9,
            lambda folder, scale, rounds: measures.warm(folder, Suite(scale.passing), rounds, discovers=True),
        ),
        Row(
            "start",
            "from the start to the answer to `tools/list`",
            "a minimal server made with the official SDK",
            0.08,
            15,
            lambda folder, _, rounds: measures.start(folder, rounds),
        ),
        Row(
            "run-start",
            "`pytest-mcp run` with one test, from its start to its end",
            SHELL,
            2.00,
            21,
            lambda folder, _, rounds: commands.whole(folder, rounds, "run"),
        ),
        Row(
            "memory",
            "growth of the server's memory, at rest after 1,000 calls",
            "after 10 calls",
            5.0,
            1,
            lambda folder, scale, rounds: measures.memory_after(folder, scale.few_calls, scale.many_calls, rounds),
            unit="MB",
        ),
        Row(
            "idle",
            "memory at rest",
            "",
            None,
            3,
            lambda folder, _, rounds: measures.idle(folder, rounds),
        ),
        Row(
            "growth",
            "large suites, with a new server for each",
            SHELL,
            None,
            1,
            lambda folder, scale, rounds: measures.growth(folder, scale.growth, rounds),
        ),
        Row(
            "shards",
            "400 tests of 50 ms in two shards at once, with their merge",
            SHELL,
            None,
            5,
            lambda folder, scale, rounds: shards.at_once(folder, Suite(scale.slow, slow=True), 2, rounds),
        ),
        Row(
            "history-call",
            "one test, server warm, with `--history`",
            "the same without",
            1.05,
            31,
            lambda folder, _, rounds: history.call(folder, Suite(1), rounds),
        ),
        Row(
            "history-record",
            "writing a run of 1,000 tests into a history of 1,000,000 results",
            "a bare `INSERT` of its results",
            2.00,
            15,
            lambda folder, scale, rounds: history.recording(folder, scale.recorded, rounds),
        ),
    )
}

# Why a goal is missed, in one sentence, by the name of the row. Shown only while it is missed.
REASONS: dict[str, str] = {
    "one-test": "a noisy machine decides: next to a version that met it on another day, in turns, it is equal (0.288"
    " and 0.298 against 0.294 and 0.300).",
    "one-failure": "the same (0.340 and 0.344 against 0.357 and 0.366).",
    "discovery": "the listing takes what the reporter saves, and a noisy machine decides; next to an older version, in"
    " one run, nothing has changed.",
}
