"""The events of a run that pytest-xdist distributes to several processes, its workers.

Pure. The other kinds of events are in `model` and `collection`.
"""

from dataclasses import dataclass

from pytest_mcp.events.model import Event


@dataclass(frozen=True)
class NoXdist(Event):
    """A call asks for workers, but pytest-xdist is not installed, or the project does not load it."""

    kind = "no_xdist"
    installed: bool


@dataclass(frozen=True)
class Distributed(Event):
    """xdist has started: with how many workers."""

    kind = "distributed"
    workers: int


@dataclass(frozen=True)
class RanOn(Event):
    """The tests that one worker ran, by their places in the collection."""

    kind = "ran_on"
    worker: str
    indexes: list[int]


@dataclass(frozen=True)
class WorkerDown(Event):
    """A worker process died; xdist may have replaced it."""

    kind = "worker_down"
    worker: str
    error: str

    @property
    def reason(self) -> str:
        """The last line: the others are a traceback."""
        return (self.error.strip().splitlines() or [""])[-1].strip()


@dataclass(frozen=True)
class WorkerStack(Event):
    """What a worker was doing when the run was interrupted: the test it ran, and the frames of its main thread."""

    kind = "worker_stack"
    id: str | None
    stack: list[str]


@dataclass(frozen=True)
class Overrun(Event):
    """How many tests finished after the failure at which the run had to stop."""

    kind = "overrun"
    count: int
