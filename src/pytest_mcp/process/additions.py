"""What is added to an answer and must not cost it: recorded runs, the page, coverage, progress, notices.

An addition that raises or takes too long is left out. The call that it belongs to collects the names, and one notice
of its answer tells them. What is made here is never needed for the verdict.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import anyio

from pytest_mcp.process.background import begun

logger = logging.getLogger(__name__)

# In seconds, for one addition. An answer comes within five seconds after its run.
MAX_SECONDS = 4.0

Made = TypeVar("Made")
Given = TypeVar("Given")


class LostAdditions:
    """The additions that one call has lost, each with the reason."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    @property
    def notices(self) -> list[str]:
        """At most one."""
        named = ", ".join(f"{name} ({why})" for name, why in self.reasons.items())
        return [f"Could not be added to this answer: {named}. The rest of it is complete."] if named else []


_current: ContextVar[LostAdditions | None] = ContextVar("left out", default=None)


@contextmanager
def collected() -> Iterator[LostAdditions]:
    """During a call: what is left out in this block, and in the tasks and threads that it starts."""
    left_out = LostAdditions()
    token = _current.set(left_out)
    try:
        yield left_out
    finally:
        _current.reset(token)


@contextmanager
def spared(name: str) -> Iterator[None]:
    """Whatever the block raises is logged, and costs only this addition."""
    try:
        yield
    except (Exception, SystemExit) as error:
        logger.exception("could not be added to an answer: %s", name)
        if (left_out := _current.get()) is not None:
            left_out.reasons.setdefault(name, str(error) if isinstance(error, TooLate) else type(error).__name__)


def sparing(name: str, follow: Callable[[Given], None]) -> Callable[[Given], None]:
    """The same function, without what it raises."""

    def spared_follow(given: Given) -> None:
        with spared(name):
            follow(given)

    return spared_follow


class TooLate(Exception):
    def __init__(self, limit: float) -> None:
        super().__init__(f"took longer than {limit:g} s")


def made(name: str, make: Callable[[], Made], *, instead: Made, seconds: float | None = None) -> Made:
    """What `make` returns, in a thread of its own that is left to itself when the time is over."""
    limit = MAX_SECONDS if seconds is None else seconds
    with spared(name):
        future = begun(make)
        try:
            return future.result(limit)
        except TimeoutError:
            if future.done():
                raise
            raise TooLate(limit) from None
    return instead


async def awaited(name: str, work: Awaitable[Made], *, instead: Made, seconds: float | None = None) -> Made:
    """What `work` returns, which is cancelled when the time is over."""
    limit = MAX_SECONDS if seconds is None else seconds
    with spared(name):
        with anyio.move_on_after(limit):
            return await work
        raise TooLate(limit)
    return instead
