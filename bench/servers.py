"""A real server with a raw client, and how long its answers take, by the clock of the thread that reads them."""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench import kernel
from bench.projects import Suite
from bench.shell import ENVIRONMENT, Wrong
from pytest_mcp.process.process_tree import descendants
from tests.support.protocol.raw_client import INITIALIZE, Message, RawClient

# The command that clients use.
PROGRAM = Path(sys.executable).with_name("pytest-mcp")
MINIMAL = Path(__file__).with_name("minimal_server.py")
# Longer than the largest suite takes, in seconds; so is the server's own limit.
MAX_CALL = 1200
# A server that does not exit within this time is killed.
END_SECONDS = 10


class Server(RawClient):
    def __init__(self, argv: list[str | Path], project: Path) -> None:
        self.born = time.perf_counter()
        super().__init__(argv, cwd=project, env=ENVIRONMENT)

    @classmethod
    def ours(cls, python: Path, project: Path) -> "Server":
        return cls([PROGRAM, f"--python={python}", f"--timeout={MAX_CALL}"], project)

    @classmethod
    def minimal(cls, project: Path) -> "Server":
        return cls([sys.executable, MINIMAL], project)

    def close(self, limit: float = END_SECONDS) -> int:
        """End it as a client does, and wait until nothing of it computes any more."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        below = self._end(limit)
        self.release()
        kernel.wait_for_ends(below)
        return self.process.returncode

    def _end(self, limit: float) -> set[int]:
        """Wait for its end, and return all that was seen below it: it may have begun to start a spare just now."""
        below: set[int] = set()
        end = time.monotonic() + limit
        while self.process.poll() is None:
            below |= descendants(self.pid)
            if time.monotonic() > end:
                self.process.kill()
            time.sleep(kernel.PAUSE_SECONDS)
        return below

    def handshake(self) -> float:
        """All that a client says before its first call; seconds from the start of the server to the last answer."""
        self.greeted()
        came, _ = self.result(self.request("tools/list"))
        return came - self.born

    def finish_loading(self) -> None:
        """The handshake may have been answered by less than the whole server; a ping comes after the rest is there."""
        self.result(self.request("ping"))

    def result(self, identity: str) -> tuple[float, Message]:
        """When the answer had come, and its result."""
        reply = self.reply(identity, limit=MAX_CALL)
        if "result" not in reply:
            raise Wrong(f"an error instead of a result: {reply!r:.500}")
        return self.arrived[identity], reply["result"]

    def execute(self, suite: Suite, **arguments: int) -> float:
        """Seconds for a run of the whole suite, from the request to its answer."""
        return self._timed_call("execute_tests", suite, **arguments)

    def discover(self, suite: Suite) -> float:
        return self._timed_call("discover_tests", suite)

    def execute_at_once(self, suite: Suite) -> float:
        """The same for a client that waits for nothing, from the start of the server on."""
        self.request("initialize", INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self._timed_call("execute_tests", suite, since=self.born)

    def _timed_call(self, tool: str, suite: Suite, *, since: float | None = None, **arguments: int) -> float:
        started = time.perf_counter() if since is None else since
        came, result = self.result(self.begin(tool, **arguments))
        check(result["structuredContent"], suite)
        return came - started


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
