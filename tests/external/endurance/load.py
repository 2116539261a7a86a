"""Many clients on one server on HTTP, and many servers on stdio beside it, all of them at once.

Every client calls again as soon as it has its answer. In turn means then that nobody gets far ahead of anybody.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from tests.external.endurance.crowd import Caller, call_repeatedly
from tests.external.endurance.figures import Figure, Tally, part
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


def measure(share: float, _seed: int = 0) -> Figure:
    return call_everywhere(CLIENTS, SERVERS, part(CALLS, share))


def call_everywhere(clients: int, servers: int, calls: int) -> Figure:
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
    words = (
        f"load: {clients} clients of one server on HTTP beside {servers} servers on stdio, {calls} calls each:"
        f" {race.tally['wrong']} wrong answers, nobody more than {race.ahead} calls ahead of anybody,"
        f" {growth:+.0f} MB at most, {left} processes and files left"
    )
    return Figure(words, race.tally, is_right=not left and race.ahead <= FAIR and growth < MEGABYTES)


async def call_all(web: HostileWeb, crowd: list[Caller], clients: int, calls: int, race: Race) -> None:
    async with anyio.create_task_group() as tasks:
        for caller in crowd[:clients]:
            url = f"http://127.0.0.1:{web.port}/mcp"
            tasks.start_soon(call_by, Client(url, mode=MODES[caller.number % 2]), caller, calls, race)
        for caller in crowd[clients:]:
            tasks.start_soon(call_by, Client(own_server(web)), caller, calls, race)


def own_server(web: HostileWeb) -> StdioServerParameters:
    python = Workbench(web.root, NEWEST).python
    return servers.parameters(web.root, python, "--timeout=600", environment={"TMPDIR": str(web.temporary)})


async def call_by(connecting: Client, caller: Caller, calls: int, race: Race) -> None:
    async with connecting as client:
        await call_repeatedly(client, caller, calls, race.tally, race.answered)


async def settled(web: HostileWeb) -> int:
    """What the runs have left, once it is nothing, or else after a while."""
    with anyio.move_on_after(SETTLING_SECONDS):
        await until(lambda: not (web.leftovers() or web.folders()))
    return len(web.leftovers()) + len(web.folders())
