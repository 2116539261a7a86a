"""SIGKILL at a random moment, to the server, its supervisor or pytest; then nothing may be left of the run."""

import os
import random
import shutil
import signal
import tempfile
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from tests.external.endurance.figures import Figure, Tally, part
from tests.external.endurance.scene import Scene
from tests.support.leftovers import waiting
from tests.support.protocol.raw_client import NoAnswer, RawClient
from tests.support.runs.children import STUBBORN
from tests.support.waiting import PATIENCE, processes_in, until

FULL = 300
# Within this time everything must be gone.
SECONDS_TO_GO = 2.0
# From the appearance of the victim to its end: startup, collection, the test and its teardown lie in it.
LATEST_MOMENT = 1.2
# Each the child of the one before. A supervisor is two processes: the one that watches and the one that works.
# When only the watch is killed the run goes on, so it is killed together with the server.
CHAIN = ("server", "watch", "supervisor", "pytest")
VICTIMS = ("server", "supervisor", "pytest", "server and watch", "server and supervisor")
SCRIPTS = ("supervisor.py", "supervisor.py", "launcher.py")
PROC = Path("/proc")
TEST = """
import pytest

@pytest.mark.parametrize('pause', [0, 0.3, 600], ids=['none', 'short', 'long'])
def test_stubborn(pause):
"""
PROJECT = {"test_stubborn.py": TEST + textwrap.indent(f"{STUBBORN}\ntime.sleep(pause)\n", "    ")}
PAUSES = ("none", "short", "long", "long")


def measure(share: float, seed: int) -> Figure:
    return kill_at_random(part(FULL, share), seed, within=SECONDS_TO_GO)


def kill_at_random(count: int, seed: int, *, within: float) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene.made_in(Path(folder).resolve(), PROJECT)
        killer = Killer(scene, random.Random(seed), within, scene.server())
        try:
            anyio.run(killer.kill_many, count)
        finally:
            killer.clear()
    tally = killer.tally
    left = f"{tally['process']} processes and {tally['file']} files left"
    unanswered = f"{tally['unanswered']} calls that a living server did not answer"
    return Figure(f"soak kills: {count} of server, supervisor or pytest, {left}, {unanswered}", tally)


@dataclass
class Killer:
    """A server in its project. Every process of a run works in that folder, and every file lies in `temporary`."""

    scene: Scene
    rng: random.Random
    within: float
    server: RawClient
    tally: Tally = field(default_factory=Tally)

    async def kill_many(self, count: int) -> None:
        """A run that was over before the moment came does not count, but must have left nothing either."""
        hits = 0
        while hits < count:
            victim, pause = VICTIMS[hits % len(VICTIMS)], self.rng.choice(PAUSES)
            hits += await self.kill_one(victim, pause)

    async def kill_one(self, victim: str, pause: str) -> bool:
        identity = self.server.begin("execute_tests", node_ids=[f"test_stubborn.py::test_stubborn[{pause}]"])
        answered = self.server.replies
        await until(lambda: self.find(victim) or identity in answered)
        with anyio.move_on_after(self.rng.uniform(0, LATEST_MOMENT)):
            await until(lambda: identity in answered)
        hit = self.strike(victim)
        if victim == "pytest" and hit:
            await self.strike_successor(identity, hit)
        await self.see_that_nothing_is_left(f"{victim} killed, pause {pause}")
        self.hear(identity)
        return bool(hit)

    async def strike_successor(self, identity: str, killed: list[int]) -> None:
        """One that was started ahead and killed before it had begun is replaced, and the run goes on."""
        with anyio.move_on_after(self.within):
            await until(lambda: identity in self.server.replies or set(self.find("pytest")).difference(killed))
            if identity not in self.server.replies:
                self.strike("pytest")

    def find(self, victim: str) -> list[int]:
        """The numbers of all that are named, or none: each is known by the script that it runs."""
        names = victim.split(" and ")
        # Before a supervisor is two processes nobody outlives it and the server; the next start removes the folder.
        needed = [self.find_one(name) for name in (names if len(names) == 1 else CHAIN[:3])]
        return [pid for name in names if (pid := self.find_one(name)) is not None] if None not in needed else []

    def find_one(self, name: str) -> int | None:
        pid = self.server.pid if self.server.is_alive else None
        for script in SCRIPTS[: CHAIN.index(name)]:
            pid = pid and next((child for child in children_of(pid) if script in command_of(child)), None)
        return pid

    def strike(self, victim: str) -> list[int]:
        pids = self.find(victim)
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.server.pid in pids:
            self.server.process.wait(PATIENCE)
        return pids

    async def see_that_nothing_is_left(self, story: str) -> None:
        with anyio.move_on_after(self.within):
            await until(lambda: not self.processes() and not self.files())
            return
        for pid in self.processes():
            self.tally.add("process", f"{story}: {command_of(pid)}")
        for name in self.files():
            self.tally.add("file", f"{story}: {name}")
        self.clear_what_is_left()

    def processes(self) -> list[int]:
        """Those of the run: all that work in the project, but for a server that lives and what it starts ahead."""
        found = processes_in(self.scene.root)
        # Looked for last: what is started in between is a spare.
        spare = waiting(self.scene.temporary) if self.server.is_alive else {}
        return [pid for pid in found if pid not in (self.server.pid, *spare)]

    def files(self) -> list[str]:
        found = list(self.scene.temporary.iterdir())
        spare = set(waiting(self.scene.temporary).values()) if self.server.is_alive else set()
        return [entry.name for entry in found if entry not in spare]

    def hear(self, identity: str) -> None:
        """A living server answers; a dead one is replaced."""
        if not self.server.is_alive:
            self.server.close()
            self.server = self.scene.server()
            return
        try:
            self.server.reply(identity)
        except NoAnswer as error:
            self.tally.add("unanswered", error)

    def clear_what_is_left(self) -> None:
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for name in self.files():
            shutil.rmtree(self.scene.temporary / name, ignore_errors=True)

    def clear(self) -> None:
        self.server.kill()
        self.clear_what_is_left()


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in (PROC / f"{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def command_of(pid: int) -> str:
    try:
        return (PROC / f"{pid}/cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
    except OSError:
        return f"{pid}, gone since"
