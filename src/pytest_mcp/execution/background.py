"""Work beside the work: a task that lasts as long as a block, and long work that must not hold up the event loop."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

logger = logging.getLogger(__name__)

Made = TypeVar("Made")


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` while the block runs. A task group would wrap whatever the block raises."""
    task = asyncio.create_task(work)
    task.add_done_callback(_note_failure)
    try:
        yield
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])


async def in_thread(work: Callable[[], Made]) -> Made:
    """What `work` returns, made while pings, cancels and other calls are answered.

    A thread of its own that nobody waits for: a pool would keep idle threads, and an end of the server would have to
    wait for busy ones. A call that is cancelled meanwhile leaves it to finish alone.
    """
    made: Future[Made] = Future()
    made.set_running_or_notify_cancel()

    def finish() -> None:
        try:
            made.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            made.set_exception(error)

    threading.Thread(target=finish, name="long work", daemon=True).start()
    return await asyncio.wrap_future(made)


def _note_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("background work failed", exc_info=error)
