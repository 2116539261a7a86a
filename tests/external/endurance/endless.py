"""One server, one call after another, and what it holds before and after them."""

import itertools
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from tests.external.endurance.figures import Figure, Tally, part
from tests.external.endurance.scene import Scene
from tests.support.leftovers import waiting
from tests.support.protocol.raw_client import Message, RawClient
from tests.support.waiting import until

FULL = 1_000
WARM_UP = 10
# What a server may grow by, however long it lives.
MEGABYTES = 5.0
# After the last answer some things are still being put away.
SETTLING_SECONDS = 5.0
PROJECT = {
    "test_mixed.py": """
        import pytest

        def test_passes(): print("seen")

        def test_fails(): assert {"a": 1} == {"a": 2}

        @pytest.mark.skip(reason="not today")
        def test_skipped(): pass
    """,
    "test_fine.py": "def test_fine(): pass\n",
}
# Tool, arguments, and what the answer must hold: a verdict, a count of tests, or the code of an error.
CALLS: tuple[tuple[str, Message, object], ...] = (
    ("execute_tests", {}, "failed"),
    ("execute_tests", {"path": "test_fine.py"}, "passed"),
    ("discover_tests", {}, 4),
    ("execute_tests", {"detail": "full"}, "failed"),
    ("execute_tests", {"node_ids": ["test_fine.py::test_gone"]}, -32602),
    ("execute_tests", {"path": "/etc"}, -32602),
)


@dataclass(frozen=True)
class Holdings:
    """What could leak. Compared as a whole: a new thread is as bad as a new file."""

    descriptors: int
    threads: int
    children: int
    temporary_files: int

    @classmethod
    def of(cls, server: RawClient, temporary: Path) -> "Holdings":
        process = Path("/proc") / str(server.pid)
        children = [(task / "children").read_text(encoding="ascii").split() for task in (process / "task").iterdir()]
        return cls(
            descriptors=len(list((process / "fd").iterdir())),
            threads=len(children),
            children=sum(map(len, children)),
            temporary_files=len(list(temporary.iterdir())),
        )


def measure(share: float, _seed: int = 0) -> Figure:
    return call_in_a_row(part(FULL, share))


def call_in_a_row(count: int) -> Figure:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene.made_in(Path(folder).resolve(), PROJECT)
        with scene.server() as server:
            call_many(server, WARM_UP, tally)
            # The child for the next call is started after the answer, on a busy machine long after it.
            anyio.run(until, lambda: waiting(scene.temporary))
            before, weight = Holdings.of(server, scene.temporary), megabytes(server)
            call_many(server, count, tally)
            after = anyio.run(settled, server, scene.temporary, before)
            growth = megabytes(server) - weight
    held = [f"{name.replace('_', ' ')} {number} -> {asdict(after)[name]}" for name, number in asdict(before).items()]
    words = f"soak calls: {count} in a row, {tally['wrong']} wrong answers, {', '.join(held)}, {growth:+.1f} MB"
    return Figure(words, tally, is_right=before == after and growth < MEGABYTES)


def call_many(server: RawClient, count: int, tally: Tally) -> None:
    for tool, arguments, wanted in itertools.islice(itertools.cycle(CALLS), count):
        answer = server.reply(server.begin(tool, **arguments))
        if essence(answer) != wanted:
            tally.add("wrong", f"{tool} {arguments}: {answer!r:.500}")


def essence(answer: Message) -> object:
    if "error" in answer:
        return answer["error"]["code"]
    answered = answer["result"]["structuredContent"]
    return answered.get("verdict", answered.get("count"))


async def settled(server: RawClient, temporary: Path, before: Holdings) -> Holdings:
    """What is held when it is again what was held, or else after a while."""
    with anyio.move_on_after(SETTLING_SECONDS):
        await until(lambda: Holdings.of(server, temporary) == before)
    return Holdings.of(server, temporary)


def megabytes(server: RawClient) -> float:
    """The resident set, as the kernel counts it."""
    status = (Path("/proc") / str(server.pid) / "status").read_text(encoding="ascii", errors="replace")
    (kilobytes,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) / 1024
