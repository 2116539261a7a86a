"""The notice on a shard: how much of the suite it is. Pure."""

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.report import shard
from pytest_mcp.run.run import Run


def of_run(run: Run[ExecuteTests]) -> list[str]:
    if run.shard is None:
        return []
    name, divided = f"shard {run.shard.number} of {run.shard.of}", run.ledger.divided
    if divided is None:
        return [f"{name}: which tests belong to it is not known; not a run of the whole suite."]
    share = f"{name}: {divided.tests} of {divided.total} tests"
    if shard.missed(run):
        wrong = f"but pytest selected {run.ledger.selected} (does a plugin change the selection?)"
        return [f"{share}, {wrong}; other shards may run the same tests, or some run in none."]
    if divided.total and not divided.tests:
        return [f"{share}: this shard is empty, because only {divided.files} files have tests; it is no failure."]
    return [f"{share}; not a run of the whole suite."]
