"""Work beside the work: started with a block, over when it is over, and never the reason why it fails."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio

logger = logging.getLogger(__name__)


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


def _note_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("background work failed", exc_info=error)
