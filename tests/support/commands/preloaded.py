"""Our command, forked from a process that has imported it already.

Importing takes most of a command's time, and the suite types hundreds of commands. The fork has its own process,
streams, folder, environment and exit code, and runs the same `main`. Tests about the start itself, about signals and
about terminals start a new Python instead.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest_mcp
from tests.support.paths import ROOT
from tests.support.waiting import PATIENCE

_MAIN = str(Path(pytest_mcp.__file__).with_name("__main__.py"))
_NUMBER = struct.Struct("!i")
_LOCK = threading.Lock()


def typed(*arguments: str, cwd: Path, env: Mapping[str, str], stdin: str = "") -> "subprocess.CompletedProcess[str]":
    """`python -m pytest_mcp` with these arguments and this on stdin, without a terminal."""
    order = json.dumps({"argv": [_MAIN, *arguments], "cwd": str(cwd), "env": dict(env)}).encode()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        with _LOCK:
            code = _carried_out(order, [given.fileno(), stdout.fileno(), stderr.fileno()])
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read().decode(), stderr.read().decode())


def _carried_out(order: bytes, fds: Sequence[int]) -> int:
    channel, process = _started()
    try:
        socket.send_fds(channel, [_NUMBER.pack(len(order))], fds)
        channel.sendall(order)
        (code,) = _NUMBER.unpack(_exactly(channel, _NUMBER.size))
    except BaseException:
        # What it answers later would be taken for the answer to the next command.
        _started.cache_clear()
        channel.close()
        process.kill()
        process.wait()
        raise
    return int(code)


@cache
def _started() -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    """The process that is forked; it ends when this one does, since then the channel is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    ours.settimeout(PATIENCE)
    return ours, process


def _exactly(channel: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = channel.recv(size - len(received))
        if not more:
            raise EOFError("the other side has closed the channel")
        received += more
    return received


def serve(channel: socket.socket) -> None:
    """Fork for each order, and answer with the exit code, until the channel is closed."""
    while True:
        size, fds, _, _ = socket.recv_fds(channel, _NUMBER.size, 3)
        if not size:
            return
        order = json.loads(_exactly(channel, *_NUMBER.unpack(size)))
        process = os.fork()
        if not process:
            _become(order, fds, channel)
        for fd in fds:
            os.close(fd)
        _, status = os.waitpid(process, 0)
        channel.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _become(order: dict[str, Any], fds: Sequence[int], channel: socket.socket) -> NoReturn:
    from pytest_mcp.cli.main import main  # noqa: PLC0415 - imported before the fork, and not by who only asks

    channel.close()
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = order["argv"]
    encoding = order["env"].get("PYTHONIOENCODING", "utf-8")
    sys.stdin = open(0, encoding=encoding, errors="surrogateescape")  # noqa: SIM115 - as Python opens it
    sys.stdout = open(1, "w", encoding=encoding, errors="surrogateescape")  # noqa: SIM115 - as Python opens it
    sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1)  # noqa: SIM115 - the same
    sys.exit(main())


if __name__ == "__main__":
    import importlib

    from pytest_mcp.cli.main import COMMANDS

    for name in COMMANDS:
        importlib.import_module(f"pytest_mcp.cli.commands.{name}")
    # `run` and `call` load it themselves, after they have started their child.
    importlib.import_module("pytest_mcp.cli.run_call")
    serve(socket.socket(fileno=int(sys.argv[1])))
