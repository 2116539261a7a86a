"""What is known of one shard: the key `shard` of its answer, and whether it ran its share.

Pure: a run or a shard in, facts out. The sentence about it is in `notices/shards.py`.
"""

import hashlib
import json

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.results import ShardFacts
from pytest_mcp.config.model import Shard
from pytest_mcp.events.run import Run
from pytest_mcp.report import rerun

FORMAT = 1


def of_run(run: Run[Request], request: ExecuteTests) -> ShardFacts | None:
    if run.shard is None:
        return None
    told = of_error(run.shard).model_copy(
        update={"selection": _selection(request), "skipped_modules": len(run.ledger.skipped_modules)}
    )
    divided = run.ledger.divided
    if divided is None:
        return told
    return told.model_copy(update={"tests": divided.tests, "total": divided.total, "division": divided.digest})


def of_error(shard: Shard) -> ShardFacts:
    """Of a run that has no result."""
    return ShardFacts(
        format=FORMAT,
        index=shard.number,
        count=shard.of,
        tests=None,
        total=None,
        division=None,
        commit=shard.commit,
        selection=None,
        skipped_modules=0,
    )


def missed(run: Run[Request]) -> bool:
    """Whether the tests that were selected are not known to be the share of the shard."""
    ledger = run.ledger
    if run.shard is None or ledger.selected is None:
        return False
    return ledger.divided is None or ledger.divided.tests != ledger.selected


def _selection(request: ExecuteTests) -> str:
    chosen = json.dumps(rerun.same_selection(request), sort_keys=True)
    return hashlib.sha256(chosen.encode()).hexdigest()[:16]
