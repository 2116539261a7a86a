"""The events of a run that pytest-xdist distributes to several processes, its workers.

Pure. The other kinds of events are in `model` and `collection`.
"""

from pytest_mcp.run.model import Event, event


@event
class NoXdist(Event):
    """A call asks for workers, but pytest-xdist is not installed, or the project does not load it."""

    kind = "no_xdist"
    installed: bool


@event
class Distributed(Event):
    """xdist has started: with how many workers."""

    kind = "distributed"
    workers: int


@event
class RanOn(Event):
    """The tests that one worker ran, by their places in the collection."""

    kind = "ran_on"
    worker: str
    indexes: list[int]


@event
class WorkerDown(Event):
    """A worker process died; xdist may have replaced it."""

    kind = "worker_down"
    worker: str
    error: str

    @property
    def reason(self) -> str:
        """The last line: the others are a traceback."""
        return (self.error.strip().splitlines() or [""])[-1].strip()


@event
class WorkerStack(Event):
    """What a worker was doing when the run was interrupted: the test it ran, and the frames of its main thread."""

    kind = "worker_stack"
    id: str | None
    stack: list[str]


@event
class Overrun(Event):
    """How many tests finished after the failure at which the run had to stop."""

    kind = "overrun"
    count: int
