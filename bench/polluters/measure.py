"""One planted test: look for a leak and a place that break a test of the suite, and investigate that test."""

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from bench.polluters import suites
from bench.polluters.plant import PLANTED, Kind, Leak, planted
from bench.polluters.results import Entry
from bench.polluters.suites import Outcomes
from bench.shell import ENVIRONMENT
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import Library
from pytest_mcp.config.model import Options, configure
from pytest_mcp.run.run import Project, Steps
from pytest_mcp.tools import BY_NAME

# For one investigation, in seconds.
LONGEST = 600
# So many leaks are tried: most break nothing that comes behind them.
MAX_TRIES = 12


@dataclass(frozen=True)
class Case:
    checkout: Checkout
    leak: Leak
    planted: str
    victim: str
    tests: int
    broken: int


async def measure(library: Library, kind: Kind, number: int) -> Entry | None:
    """None if no leak of this kind breaks a test."""
    checkout = Checkout(library)
    checkout.prepare()
    checkout.restore()
    before = suites.run(checkout)
    assert before is not None
    chance = Random(f"{library.name} {kind} {number}")
    offered = suites.leaks(checkout, kind)
    for leak in chance.sample(offered, min(MAX_TRIES, len(offered))):
        file = chance.choice(sorted({node_id.partition("::")[0] for node_id in before.passed}))
        with checkout.replaced({file: planted(checkout.original(file), leak, chance)}):
            case = broken(checkout, before, leak, f"{file}::{PLANTED}", chance)
            if case is not None:
                return await investigated(case)
    return None


def broken(checkout: Checkout, before: Outcomes, leak: Leak, name: str, chance: Random) -> Case | None:
    """A test that passes alone and without the planted test, and fails behind it: so says plain pytest."""
    after = suites.run(checkout)
    if after is None or name not in after.passed:
        return None
    victims = sorted(after.failed & {*before.passed})
    for victim in chance.sample(victims, min(3, len(victims))):
        alone, behind = suites.run(checkout, [victim]), suites.run(checkout, [name, victim])
        if alone and behind and victim in alone.passed and victim in behind.failed:
            return Case(checkout, leak, name, victim, len(after.passed) + len(after.failed), len(victims))
    return None


async def investigated(case: Case) -> Entry:
    library = case.checkout.library
    config = configure(Options(root=str(case.checkout.project), python=str(case.checkout.python)), ENVIRONMENT)
    steps: list[Any] = []
    tool = BY_NAME["investigate_failure"]
    request = tool.accept({"node_id": case.victim, "timeout": LONGEST}, config.bounds)
    started = time.monotonic()
    found = await tool.handler(request, Project(config, on_progress=steps.append))
    answer: Any = tool.answer(found, request, config)
    entry = Entry(
        date=datetime.now(UTC).date().isoformat(),
        library=library.name,
        leak=case.leak.kind,
        target=case.leak.target,
        tests=case.tests,
        broken=case.broken,
        planted=case.planted,
        victim=case.victim,
        kind=answer.kind,
        found=() if answer.polluter is None else tuple(answer.polluter.node_ids),
        runs=sum(isinstance(step, Steps) for step in steps),
        seconds=round(time.monotonic() - started, 1),
    )
    print(f"{library.name} {entry.target}: {'right' if entry.is_right else answer}", file=sys.stderr, flush=True)
    return entry
