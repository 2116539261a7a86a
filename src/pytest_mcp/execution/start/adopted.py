"""A process that was started without the event loop, as one of anyio's: what `supervisor_client` needs of it.

In comes a `Popen` with pipes for stdin and stdout; out comes a `Process`.
"""

import asyncio
import os
import signal
from contextlib import suppress
from typing import IO

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from pytest_mcp.execution.background import in_thread
from pytest_mcp.execution.start.early import Opened


class Adopted(Process):
    def __init__(self, started: Opened) -> None:
        assert started.stdin is not None
        assert started.stdout is not None
        self._started = started
        self._stdin, self._stdout = _Stdin(started.stdin), _Stdout(started.stdout)
        self._ended = asyncio.ensure_future(in_thread(started.wait))

    @property
    def pid(self) -> int:
        return self._started.pid

    @property
    def returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    @property
    def stdin(self) -> ByteSendStream:
        return self._stdin

    @property
    def stdout(self) -> ByteReceiveStream:
        return self._stdout

    @property
    def stderr(self) -> None:
        return None

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, signal: int) -> None:
        if self.returncode is None:
            with suppress(OSError):
                os.kill(self.pid, signal)

    async def aclose(self) -> None:
        await self._stdin.aclose()
        await self._stdout.aclose()


class _Stdin(ByteSendStream):
    """Takes what a pipe holds: orders are short."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe

    async def send(self, item: bytes) -> None:
        if self._pipe.closed:
            raise anyio.ClosedResourceError
        try:
            self._pipe.write(item)
            self._pipe.flush()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        with suppress(OSError):
            self._pipe.close()


class _Stdout(ByteReceiveStream):
    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.wait_readable(self._pipe.fileno())
        if chunk := os.read(self._pipe.fileno(), max_bytes):
            return chunk
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        self._pipe.close()
