"""One bug: break the library, let its suite fail, and ask for the suspects of the first failing test."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.shell import ENVIRONMENT, Wrong
from bench.suspects.results import Entry
from bench.suspects.truth import MODULE, function_at
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation import suspects
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.python import interpreter
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run

# For all runs of one bug, in seconds.
LONGEST = 600


@dataclass(frozen=True)
class Failing:
    node_ids: list[str]

    @classmethod
    def of(cls, ledger: Ledger) -> "Failing":
        """Of a file that cannot be imported no test is known; any id in it has the same suspects."""
        broken = [f"{failure.file}::test" for failure in ledger.collection_failures]
        return cls([*suspects.failures_of(ledger), *broken])


async def measure(mutant: Mutant) -> Entry:
    checkout = Checkout(LIBRARIES[mutant.library])
    checkout.prepare()
    function = function_at(checkout.original(mutant.file), mutant.edit.line)
    with checkout.changed([mutant]):
        runner = await runner_of(checkout)
        whole = await runner.run(None, paths=[checkout.library.tests])
        failing = Failing.of(whole.ledger).node_ids
        if not failing:
            raise Wrong(f"no test fails with {mutant.name}")
        run = await suspects.traced(runner, failing[:1], everything=True)
        plain = await again(runner, checkout, run)
    found = suspects.suspects_of(run, failing[0], {})
    named = [(each.file, each.function) for each in found]
    # Where the import fails, the line that breaks it is the truth, whatever function it is in.
    truth = (mutant.file, MODULE if mutant.edit.at_import else function)
    rank = named.index(truth) + 1 if truth in named else None
    entry = Entry(
        date=datetime.now(UTC).date().isoformat(),
        library=mutant.library,
        file=mutant.file,
        function=truth[1],
        node_id=failing[0],
        failing=len(failing),
        tests=len(run.ledger.executed.keys() & run.ledger.tests.keys()),
        rank=rank,
        suspects=tuple(f"{file}:{name}" for file, name in named),
        plain=seconds(plain),
        traced=seconds(run),
    )
    print(f"{mutant.name}: {truth[1]}: {rank or 'missed'}, {entry.tests} tests", file=sys.stderr, flush=True)
    return entry


async def runner_of(checkout: Checkout) -> Runner:
    config = configure(Options(root=str(checkout.project), python=str(checkout.python)), ENVIRONMENT)
    candidates = [candidate async for candidate in interpreter.candidates(config, config.root)]
    return Runner(config, candidates[0], Deadline.after(LONGEST))


async def again(runner: Runner, checkout: Checkout, traced: Run[ExecuteTests]) -> Run[ExecuteTests]:
    """The same tests in the same order, without tracing."""
    ids: Sequence[str] = [*traced.ledger.tests]
    return await runner.run(ids, paths=[checkout.library.tests])


def seconds(run: Run[ExecuteTests]) -> float:
    """The time of the tests alone: starting and collecting take as long with and without tracing."""
    return round(sum(record.duration for record in run.ledger.completed), 3)
