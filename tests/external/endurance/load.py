"""`make load`: many clients on one server on HTTP, and many servers on stdio beside it, all of them at once.

Every client calls again as soon as it has its answer. In turn means then that nobody gets far ahead of anybody.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters

from tests.external.endurance.crowd import Caller
from tests.external.endurance.figures import Tally, measure_all, options, part
from tests.support.leftovers import given
from tests.support.protocol import servers
from tests.support.protocol.hostile_web import HostileWeb
from tests.support.waiting import until
from tests.support.workbench import NEWEST, Workbench

CLIENTS = 50
SERVERS = 20
CALLS = 4
# How many answers a client may be ahead of another: its own last one, and one for each run at once.
FAIR = 3
# What the server on HTTP may grow by, whoever many they are.
MEGABYTES = 100
# After the last answer some things are still being put away.
SETTLING_SECONDS = 10
MODES = ("legacy", "2026-07-28")


@dataclass(frozen=True)
class Load:
    clients: int
    servers: int
    calls: int
    wrong: int
    ahead: int
    growth: float
    left: int
    examples: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not (self.wrong or self.left) and self.ahead <= FAIR and self.growth < MEGABYTES

    @property
    def words(self) -> str:
        return (
            f"load: {self.clients} clients of one server on HTTP beside {self.servers} servers on stdio, {self.calls}"
            f" calls each: {self.wrong} wrong answers, nobody more than {self.ahead} calls ahead of anybody,"
            f" {self.growth:+.0f} MB at most, {self.left} processes and files left"
        )


@dataclass
class Race:
    """How many answers each client has, and by how many the first was ever ahead of the last."""

    answers: dict[int, int]
    ahead: int = 0
    tally: Tally = field(default_factory=Tally)

    def answered(self, caller: Caller) -> None:
        if caller.number in self.answers:
            self.answers[caller.number] += 1
            self.ahead = max(self.ahead, max(self.answers.values()) - min(self.answers.values()))


def measure(share: float, _seed: int = 0) -> Load:
    return call_everywhere(CLIENTS, SERVERS, part(CALLS, share))


def call_everywhere(clients: int, servers: int, calls: int) -> Load:
    race = Race(dict.fromkeys(range(clients), 0))
    with tempfile.TemporaryDirectory() as folder:
        web = HostileWeb(Path(folder).resolve(), "--max-runs=2", "--timeout=600")
        crowd = [Caller(number) for number in range(clients + servers)]
        web.project({caller.file: caller.source for caller in crowd})
        before = web.memory()
        anyio.run(call_all, web, crowd, clients, calls, race)
        growth = (web.memory("VmHWM") - before) / 2**20
        left = anyio.run(settled, web)
        web.close()
        left += len(given(str(web.temporary))) + len(web.folders())
    return Load(clients, servers, calls, race.tally["wrong"], race.ahead, growth, left, race.tally.examples)


async def call_all(web: HostileWeb, crowd: list[Caller], clients: int, calls: int, race: Race) -> None:
    async with anyio.create_task_group() as tasks:
        for caller in crowd[:clients]:
            url = f"http://127.0.0.1:{web.port}/mcp"
            tasks.start_soon(call_repeatedly, Client(url, mode=MODES[caller.number % 2]), caller, calls, race)
        for caller in crowd[clients:]:
            tasks.start_soon(call_repeatedly, Client(own_server(web)), caller, calls, race)


def own_server(web: HostileWeb) -> StdioServerParameters:
    python = Workbench(web.root, NEWEST).python
    return servers.parameters(web.root, python, "--timeout=600", environment={"TMPDIR": str(web.temporary)})


async def call_repeatedly(connecting: Client, caller: Caller, calls: int, race: Race) -> None:
    async with connecting as client:
        for _ in range(calls):
            try:
                result = await client.call_tool("execute_tests", caller.arguments)
            except MCPError as error:
                race.tally.add("wrong", f"{caller.file}: {error}")
                continue
            race.answered(caller)
            assert isinstance(result.structured_content, dict)
            if fault := caller.fault(result.structured_content):
                race.tally.add("wrong", fault)


async def settled(web: HostileWeb) -> int:
    """What the runs have left, once it is nothing, or else after a while."""
    with anyio.move_on_after(SETTLING_SECONDS):
        await until(lambda: not (web.leftovers() or web.folders()))
    return len(web.leftovers()) + len(web.folders())


def main(chosen: Sequence[str] | None = None) -> int:
    asked = options(__doc__, chosen)
    return measure_all((measure,), share=asked.share, seed=asked.seed)


if __name__ == "__main__":
    sys.exit(main())
