"""A real server on real pipes, as a client has it: raw lines out, raw lines in, and when each came.

Without the thread that a client reads with: who waits for an answer reads it, and looks at the clock first.
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

# As clients are told to start it.
PROGRAM = Path(sys.executable).with_name("pytest-mcp")
MINIMAL = Path(__file__).with_name("minimal_server.py")
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
# Longer than the largest suite takes, in seconds; so is the server's own limit.
LONGEST_CALL = 1200
# A server that has been told to end is gone at once, or is made to go.
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
        """End it as a client does, and wait until nothing of it computes any more."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        below = self._end()
        self.process.stdout.close()
        kernel.wait_for_ends(below)

    def _end(self) -> set[int]:
        """Wait for its end, and return all that was seen below it: it may have begun to start a spare just now."""
        below: set[int] = set()
        end = time.monotonic() + END_SECONDS
        while self.process.poll() is None:
            below |= descendants(self.pid)
            if time.monotonic() > end:
                self.process.kill()
            time.sleep(kernel.PAUSE_SECONDS)
        return below

    def handshake(self) -> float:
        """All that a client says before its first call; seconds from the start of the server to the last answer."""
        self.ask("initialize", INITIALIZE)
        self.tell("notifications/initialized")
        came, _ = self.answer(self.begin("tools/list", {}))
        return came - self.born

    def finish_loading(self) -> None:
        """The handshake may have been answered by less than the whole server; a ping comes after the rest is there."""
        self.ask("ping", {})

    def tell(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def begin(self, method: str, params: Message) -> int:
        self.asked += 1
        self._write({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    def answer(self, identity: int) -> tuple[float, Message]:
        """When the answer had come, and what it says."""
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
        """Seconds that a run of the whole suite takes, from the request to its answer."""
        return self._timed_call("execute_tests", suite)

    def discover(self, suite: Suite) -> float:
        return self._timed_call("discover_tests", suite)

    def execute_at_once(self, suite: Suite) -> float:
        """The same for a client that waits for nothing, from the start of the server on."""
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
                raise Wrong("the server has gone, or says nothing")
            self.unread += chunk
        came = time.perf_counter()
        line, _, self.unread = self.unread.partition(b"\n")
        return came, line


def check(answer: Message, suite: Suite) -> None:
    """A wrong answer may be a fast one."""
    if "verdict" not in answer:
        right = answer["count"] == suite.tests
    elif suite.failing:
        # Of many failures an answer has no room for the tracebacks.
        right = answer["summary"]["failed"] == suite.tests and (
            suite.tests > 1 or bool(answer["tests"][0]["traceback"])
        )
    else:
        right = answer["verdict"] == "passed" and answer["summary"]["passed"] == suite.tests
    if not right:
        raise Wrong(f"{suite} was answered with {json.dumps(answer)[:500]}")
