"""What is known of one shard, so that a merge can tell whether all of them are there; and the notice on it."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import MAX_SHARDS, Shard
from pytest_mcp.report import rerun
from pytest_mcp.run.run import Run

Count = Annotated[int, Field(ge=0, le=10**9)]
# The division of a suite of which nothing was collected, because nothing had changed.
UNDIVIDED = "nothing"


@dataclass(frozen=True)
class ShardFacts:
    """None where the run did not get that far."""

    index: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    # Of this shard, and of all of them.
    tests: Count | None = None
    total: Count | None = None
    # Equal for shards of the same files with the same numbers of tests.
    division: str | None = None
    commit: str | None = None
    # Equal for calls with the same parameters that choose tests.
    selection: str | None = None

    @property
    def name(self) -> str:
        return f"shard {self.index} of {self.count}"


def facts_of_run(run: Run[ExecuteTests]) -> ShardFacts | None:
    if run.shard is None:
        return None
    facts = replace(facts_without_result(run.shard), selection=_selection(run.request))
    divided = run.ledger.divided
    if divided is None:
        return facts
    return replace(facts, tests=divided.tests, total=divided.total, division=divided.digest)


def facts_without_tests(shard: Shard, request: ExecuteTests) -> ShardFacts:
    """Of a run that had nothing to select from."""
    facts = facts_without_result(shard)
    return replace(facts, tests=0, total=0, division=UNDIVIDED, selection=_selection(request))


def facts_without_result(shard: Shard) -> ShardFacts:
    return ShardFacts(shard.number, shard.of, commit=shard.commit)


def _selection(request: ExecuteTests) -> str:
    chosen = json.dumps(rerun.same_selection(request), sort_keys=True)
    return hashlib.sha256(chosen.encode()).hexdigest()[:16]


def missed_its_share(run: Run[ExecuteTests]) -> bool:
    """Whether the tests that were selected are not known to be the share of the shard."""
    divided, selected = run.ledger.divided, run.ledger.selected
    if run.shard is None or selected is None:
        return False
    return divided is None or divided.tests != selected


def shard_notices(run: Run[ExecuteTests]) -> list[str]:
    """How much of the suite it is."""
    if run.shard is None:
        return []
    name, divided = f"shard {run.shard.number} of {run.shard.of}", run.ledger.divided
    if divided is None:
        return [f"{name}: which tests belong to it is not known; not a run of the whole suite."]
    share = f"{name}: {divided.tests} of {divided.total} tests"
    if missed_its_share(run):
        wrong = f"but pytest selected {run.ledger.selected} (does a plugin change the selection?)"
        return [f"{share}, {wrong}; other shards may run the same tests, or some run in none."]
    if divided.total and not divided.tests:
        return [f"{share}: this shard is empty, because only {divided.files} files have tests; it is no failure."]
    return [f"{share}; not a run of the whole suite."]
