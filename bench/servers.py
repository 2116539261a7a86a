"""A real server on real pipes, as a client has it: raw lines out, raw lines in, with the time of each answer.

There is no reader thread: the caller reads the answer itself, and reads the clock as soon as the line is complete.
"""

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench import kernel
from bench.projects import Suite
from bench.shell import ENVIRONMENT, Wrong
from pytest_mcp.execution.process_tree import descendants

Message = dict[str, Any]

# The command that clients use.
PROGRAM = Path(sys.executable).with_name("pytest-mcp")
MINIMAL = Path(__file__).with_name("minimal_server.py")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
# Seconds, longer than the largest suite takes. The server gets the same limit.
LONGEST_CALL = 1200
# A server that does not exit within this time is killed.
END_SECONDS = 10
CHUNK = 1024 * 1024


class Server:
    def __init__(self, argv: list[str | Path], project: Path) -> None:
        self.born = time.perf_counter()
        self.process = subprocess.Popen(
            argv,
            cwd=project,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.asked = 0
        self.unread = b""

    @classmethod
    def ours(cls, python: Path, project: Path) -> "Server":
        return cls([PROGRAM, f"--python={python}", f"--timeout={LONGEST_CALL}"], project)

    @classmethod
    def minimal(cls, project: Path) -> "Server":
        return cls([sys.executable, MINIMAL], project)

    @property
    def pid(self) -> int:
        return self.process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End it as a client does, and wait until its descendants are gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        below = self._end()
        self.process.stdout.close()
        kernel.wait_for_ends(below)

    def _end(self) -> set[int]:
        """Wait for its end, and return all descendants that were seen: it may just have started a spare."""
        below: set[int] = set()
        end = time.monotonic() + END_SECONDS
        while self.process.poll() is None:
            below |= descendants(self.pid)
            if time.monotonic() > end:
                self.process.kill()
            time.sleep(kernel.PAUSE_SECONDS)
        return below

    def handshake(self) -> float:
        """Send what a client sends before its first call; seconds from the start of the server to the last answer."""
        self.ask("initialize", INITIALIZE)
        self.tell("notifications/initialized")
        came, _ = self.answer(self.begin("tools/list", {}))
        return came - self.born

    def finish_loading(self) -> None:
        """The handshake may be answered before the SDK is loaded; a ping is answered after that."""
        self.ask("ping", {})

    def tell(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def begin(self, method: str, params: Message) -> int:
        self.asked += 1
        self._write({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    def answer(self, identity: int) -> tuple[float, Message]:
        """The time of the answer, and its content."""
        while True:
            came, line = self._line()
            message = json.loads(line)
            if message.get("id") == identity and "method" not in message:
                if "result" not in message:
                    raise Wrong(f"an error instead of a result: {line[:500]!r}")
                return came, message["result"]

    def ask(self, method: str, params: Message) -> Message:
        return self.answer(self.begin(method, params))[1]

    def execute(self, suite: Suite) -> float:
        """Seconds for a run of the whole suite, from the request to its answer."""
        return self._timed_call("execute_tests", suite)

    def discover(self, suite: Suite) -> float:
        return self._timed_call("discover_tests", suite)

    def execute_at_once(self, suite: Suite) -> float:
        """The same from the start of the server, for a client that does not wait for the handshake."""
        self.begin("initialize", INITIALIZE)
        self.tell("notifications/initialized")
        return self._timed_call("execute_tests", suite, since=self.born)

    def _timed_call(self, tool: str, suite: Suite, *, since: float | None = None) -> float:
        started = time.perf_counter() if since is None else since
        came, result = self.answer(self.begin("tools/call", {"name": tool, "arguments": {}}))
        check(result["structuredContent"], suite)
        return came - started

    def _write(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def _line(self) -> tuple[float, bytes]:
        assert self.process.stdout is not None
        source = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            ready, _, _ = select.select([source], [], [], LONGEST_CALL)
            chunk = os.read(source, CHUNK) if ready else b""
            if not chunk:
                raise Wrong("the server has exited or does not answer")
            self.unread += chunk
        came = time.perf_counter()
        line, _, self.unread = self.unread.partition(b"\n")
        return came, line


def check(answer: Message, suite: Suite) -> None:
    """Raise if the answer is wrong: a wrong answer may be fast."""
    if "verdict" not in answer:
        right = answer["count"] == suite.tests
    elif suite.failing:
        # With many failures an answer has no room for the tracebacks.
        right = answer["summary"]["failed"] == suite.tests and (
            suite.tests > 1 or bool(answer["tests"][0]["traceback"])
        )
    else:
        right = answer["verdict"] == "passed" and answer["summary"]["passed"] == suite.tests
    if not right:
        raise Wrong(f"{suite} was answered with {json.dumps(answer)[:500]}")
