"""Many callers at once on one server, each with a selection of its own, whose counts only it must get."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError

from tests.external.endurance.figures import Figure, Tally, part
from tests.support.protocol import servers
from tests.support.workbench import Workbench

CALLERS = 64
RUNS = 20
MAX_RUNS = 2


@dataclass(frozen=True)
class Caller:
    number: int

    @property
    def file(self) -> str:
        return f"test_caller_{self.number:02}.py"

    @property
    def counts(self) -> dict[str, int]:
        """No two neighbours have the same."""
        passed, failed, skipped = 1 + self.number % 7, self.number % 3, self.number % 2
        return {"total": passed + failed + skipped, "passed": passed, "failed": failed, "skipped": skipped, "errors": 0}

    @property
    def source(self) -> str:
        bodies = {"passed": "pass", "failed": "assert 0", "skipped": "pytest.skip('not today')"}
        tests = [
            f"def test_{outcome}_{n}(): {body}\n"
            for outcome, body in bodies.items()
            for n in range(self.counts[outcome])
        ]
        return "import pytest\n" + "".join(tests)

    @property
    def arguments(self) -> dict[str, Any]:
        """Each in one of the three ways to choose."""
        ways: list[dict[str, Any]] = [
            {"path": self.file},
            {"node_ids": [self.file]},
            {"keywords": self.file.removesuffix(".py")},
        ]
        return ways[self.number % 3] | {"detail": "tests"}

    def fault(self, answer: dict[str, Any]) -> str | None:
        """What is not this caller's own in an answer."""
        counts = {name: answer["summary"][name] for name in self.counts}
        verdict = "failed" if self.counts["failed"] else "passed"
        strangers = [test["node_id"] for test in answer["tests"] if not test["node_id"].startswith(self.file)]
        if counts == self.counts and answer["verdict"] == verdict and not strangers:
            return None
        return f"{self.file} wanted {self.counts}, got {counts} {answer['verdict']} and {strangers} of others"


def measure(share: float, _seed: int = 0) -> Figure:
    return call_at_once(CALLERS, part(RUNS, share))


def call_at_once(callers: int, runs: int) -> Figure:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder).resolve())
        crowd = [Caller(number) for number in range(callers)]
        bench.write({caller.file: caller.source for caller in crowd})
        anyio.run(serve, bench, crowd, runs, tally)
    words = f"soak callers: {callers} callers x {runs} runs on one server, {tally['wrong']} wrong counts"
    return Figure(words, tally)


async def serve(bench: Workbench, crowd: list[Caller], runs: int, tally: Tally) -> None:
    server = servers.parameters(bench.root, bench.python, f"--max-runs={MAX_RUNS}")
    async with Client(server) as client, anyio.create_task_group() as tasks:
        for caller in crowd:
            tasks.start_soon(call_repeatedly, client, caller, runs, tally)


async def call_repeatedly(
    client: Client, caller: Caller, runs: int, tally: Tally, on_answer: Callable[[Caller], None] = lambda _: None
) -> None:
    for _ in range(runs):
        try:
            result = await client.call_tool("execute_tests", caller.arguments)
        except MCPError as error:
            tally.add("wrong", f"{caller.file}: {error}")
            continue
        on_answer(caller)
        assert isinstance(result.structured_content, dict)
        if fault := caller.fault(result.structured_content):
            tally.add("wrong", fault)
