"""One test alone and at its base, without a search for an order and for suspects."""

from pytest_mcp.investigation import repetitions
from pytest_mcp.investigation.answer import Findings, answer_of
from pytest_mcp.investigation.base import BaseSearch, find_base
from pytest_mcp.investigation.repetitions import Alone, Seeds
from pytest_mcp.investigation.result import InvestigateResult
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.attempt import Deadline
from tests.support.git import git
from tests.support.projects.investigation_corpus import VICTIM
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench


def commit(bench: Workbench) -> None:
    git("init", "--quiet", cwd=bench.root)
    git("add", "--all", cwd=bench.root)
    git("commit", "--quiet", "--allow-empty", "-m", "base", cwd=bench.root)


async def at_the_base(bench: Workbench, node_id: str = VICTIM, runs: int = 1, **environment: str) -> InvestigateResult:
    config = bench.config._replace(environment={**bench.config.environment, **environment})
    runner = Runner(config, Candidate(bench.python, ""), Deadline.after(PATIENCE))
    found = await find_base(config, None, runner.deadline)
    seen = Alone((await repetitions.run_once(runner, node_id),), (Seeds(None),), 1)
    there = await BaseSearch(runner, node_id, found).run([Seeds(None)] * runs, seen.outcomes)
    return answer_of(Findings(node_id, seen, base=there))
