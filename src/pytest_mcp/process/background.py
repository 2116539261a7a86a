"""Run a coroutine during a block, and a function in a thread so that it does not block the event loop."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any, TypeVar

import anyio

logger = logging.getLogger(__name__)

Made = TypeVar("Made")


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` while the block runs; log its failure, never raise it.

    Not a task group: that would wrap whatever the block raises.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_note_failure)
    try:
        yield
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])


async def in_thread(work: Callable[[], Made]) -> Made:
    """Run `work` in a thread of its own and return its result.

    If the call is cancelled, the thread runs to its end and its result is dropped.
    """
    return await asyncio.wrap_future(begun(work))


def begun(work: Callable[[], Made]) -> Future[Made]:
    """Begin `work` in a thread of its own, with the context of whoever begins it.

    Not in a pool: that keeps idle threads, and the server could not exit before busy ones have finished.
    """
    future: Future[Made] = Future()
    future.set_running_or_notify_cancel()
    context = copy_context()

    def finish() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            future.set_exception(error)

    threading.Thread(target=finish, name="long work", daemon=True).start()
    return future


def _note_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("background work failed", exc_info=error)
