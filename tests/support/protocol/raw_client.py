"""The one raw client on stdio: starts a server, sends lines, and checks that every line that comes back is JSON-RPC.

A thread reads stdout, so a server never waits for a test that is busy. What a test makes of the answers is its own.
"""

import json
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.support.waiting import PATIENCE

Message = dict[str, Any]

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
# Ids of ours begin with this, so that no other line that a test sends can have one of them.
OWN_ID = "asked-"
# More than a pipe holds, so that a large answer is read in few steps.
BUFFER_BYTES = 2**20
# How much of the server's log a failure shows.
SHOWN_LOG = 2000


class NoAnswer(Exception):
    """The server has ended, does not read any more, or did not answer in time."""


class RawClient:
    """`replies` holds every answer by its id, `notifications` everything without one, `faults` what is no JSON-RPC."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        self.log = log
        self.asked = 0
        self.faults: list[str] = []
        self.replies: dict[object, list[Message]] = {}
        # When the first answer to each request had been read.
        self.arrived: dict[object, float] = {}
        self.notifications: list[Message] = []
        self.news = threading.Condition()
        # Cleared by a test of a client that does not read.
        self.reading = threading.Event()
        self.reading.set()
        with _opened(log) as errors:
            self.process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=BUFFER_BYTES,
                start_new_session=True,
            )
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    # --- sending -------------------------------------------------------------------------------

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise NoAnswer("the server does not read any more") from error

    def send(self, message: Any) -> None:
        self.send_raw(json.dumps(message).encode() + b"\n")

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> str:
        """Send a request and return its id."""
        identity = self.next_id()
        self.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": dict(params or {})})
        return identity

    def next_id(self) -> str:
        self.asked += 1
        return f"{OWN_ID}{self.asked}"

    def begin(self, tool: str = "execute_tests", **arguments: Any) -> str:
        """Send a call of a tool and return its id."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def cancel(self, identity: object) -> None:
        params = {"requestId": identity, "reason": "enough"}
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def greeted(self) -> Self:
        """After the handshake."""
        self.reply(self.request("initialize", INITIALIZE))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    # --- receiving -----------------------------------------------------------------------------

    def reply(self, identity: object, *, limit: float = PATIENCE) -> Message:
        """The first answer with this id: a result or an error, as it came."""
        with self.news:
            self.news.wait_for(lambda: identity in self.replies or not self.listener.is_alive(), limit)
            if identity not in self.replies:
                raise NoAnswer(f"no answer to {identity} within {limit} s; {self.logged()}")
            return self.replies[identity][0]

    def logged(self) -> str:
        """The end of what the server wrote to stderr."""
        return "" if self.log is None else self.log.read_text(encoding="utf-8", errors="replace")[-SHOWN_LOG:]

    def _listen(self) -> None:
        assert self.process.stdout is not None
        while True:
            self.reading.wait()
            line = self.process.stdout.readline()
            came = time.perf_counter()
            with self.news:
                if line:
                    self._take(line, came)
                self.news.notify_all()
            if not line:
                return

    def _take(self, line: bytes, came: float) -> None:
        message = read_message(line)
        if message is None:
            self.faults.append(repr(line[:500]))
        elif "method" in message:
            self.notifications.append(message)
        else:
            self.replies.setdefault(message["id"], []).append(message)
            self.arrived.setdefault(message["id"], came)

    # --- the end -------------------------------------------------------------------------------

    def close(self, limit: float = PATIENCE) -> int:
        """Close stdin, as a client does, and return the exit code. A server that does not end by then is killed."""
        code = self.end(limit)
        self.release()
        return code

    def end(self, limit: float) -> int:
        assert self.process.stdin is not None
        self.reading.set()
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(limit)
        self.process.kill()
        return self.process.wait()

    def release(self) -> None:
        """Read what is left and close stdout, after everything that could write to it has ended."""
        assert self.process.stdout is not None
        self.listener.join()
        self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.close()


def _opened(log: Path | None) -> IO[bytes]:
    return Path("/dev/null").open("wb") if log is None else log.open("ab")


def read_message(line: bytes) -> Message | None:
    """The message, or None if it is not a valid message of JSON-RPC 2.0."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    return message if is_notification(message) or is_result(message) or is_error(message) else None


def is_notification(message: Message) -> bool:
    return isinstance(message.get("method"), str) and not {"id", "result", "error"} & message.keys()


def is_result(message: Message) -> bool:
    return (
        isinstance(message.get("id"), (str, int)) and isinstance(message.get("result"), dict) and "error" not in message
    )


def is_error(message: Message) -> bool:
    error = message.get("error")
    if not isinstance(error, dict) or "result" in message or not isinstance(message.get("id"), (str, int, type(None))):
        return False
    return type(error.get("code")) is int and isinstance(error.get("message"), str)
