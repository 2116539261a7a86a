"""Who plays a dialogue: a real process, one that has the SDK loaded already, and the SDK alone in memory."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from multiprocessing import reduction
from typing import IO, Any, cast

import anyio
from mcp.server.stdio import stdio_server

from pytest_mcp.cli import main
from pytest_mcp.config.model import Config
from pytest_mcp.server import incoming, stdio
from pytest_mcp.server.app import create
from tests.support.protocol import servers
from tests.support.protocol.dialogues import Turn
from tests.support.waiting import PATIENCE


def told_by_process(config: Config, turns: Sequence[Turn]) -> list[str]:
    """What `pytest-mcp` answers; it must end well, and say nothing else to anybody."""
    pipe = subprocess.PIPE
    with subprocess.Popen(servers.command(config.root), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        told = _played(turns, process.stdin, process.stdout)
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")
    return told


# Forks with the SDK loaded: that takes nothing from a dialogue but a second of waiting.
_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload(["tests.support.protocol.players", "pytest_mcp.process.process"])


def told_by_warm_process(config: Config, turns: Sequence[Turn]) -> list[str]:
    """The same, from a process that has the SDK at hand when it is asked for."""
    (read, told_in), (told_out, write) = os.pipe(), os.pipe()
    arguments = (reduction.DupFd(read), reduction.DupFd(write), [f"--root={config.root}"])
    process = _WARM.Process(target=_serve, args=arguments)
    process.start()
    os.close(read)
    os.close(write)
    with os.fdopen(told_in, "wb") as client, os.fdopen(told_out, "rb") as server:
        told = _played(turns, client, server)
    process.join(PATIENCE)
    assert process.exitcode == 0
    return told


def _serve(read: Any, write: Any, arguments: list[str]) -> None:
    for descriptor, given in ((0, read), (1, write)):
        os.dup2(given.detach(), descriptor)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.exit(main.main(arguments))


def _played(turns: Sequence[Turn], client: IO[bytes], server: IO[bytes]) -> list[str]:
    told: list[bytes] = []
    for data, answers, refusals in turns:
        client.write(data)
        client.flush()
        # Half a line is answered when its end does not come any more.
        told += [server.readline() for _ in range(answers + refusals * data.endswith(b"\n"))]
    client.close()
    return [canonical(entry) for entry in [*told, *server]]


def canonical(line: str | bytes) -> str:
    """The same for lines that mean the same: the order of keys is nobody's business."""
    return json.dumps(json.loads(line), sort_keys=True)


class Spoken:
    """Stands in for stdout."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.grown = anyio.Event()

    async def write(self, text: str) -> None:
        self.lines.append(text)
        self.grown.set()

    async def flush(self) -> None:
        pass

    async def until(self, count: int) -> None:
        with anyio.fail_after(PATIENCE):
            while len(self.lines) < count:
                await self.grown.wait()
                self.grown = anyio.Event()


async def told_by_sdk(config: Config, turns: Sequence[Turn]) -> list[str]:
    """What the same server answers if the SDK hears all of it."""
    spoken = Spoken()
    reader, writer = os.pipe()
    server = create(config)

    async def talk() -> None:
        expected = 0
        for data, answers, _ in turns:
            await anyio.to_thread.run_sync(_write, writer, data)
            expected += answers
            await spoken.until(expected)
        os.close(writer)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            streams = cast("Any", {"stdin": _mended_lines(reader), "stdout": spoken})
            async with stdio_server(**streams) as (heard, answers):
                await server.run(heard, answers, server.create_initialization_options())
    finally:
        os.close(reader)
    return [canonical(line) for line in spoken.lines]


async def _mended_lines(descriptor: int) -> AsyncIterator[bytes]:
    async for line in stdio.lines(descriptor):
        try:
            yield incoming.admitted(line)
        except incoming.BadMessage:
            yield line


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
