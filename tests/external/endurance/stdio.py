"""A real server on real pipes, spoken to in raw lines, with everything it says held against JSON-RPC."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench

Message = dict[str, Any]

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
# Ids of ours begin with this, so that nothing else that is sent can name them.
OWN_ID = "asked-"


class Silent(Exception):
    """No answer came: the server is gone, or has forgotten the question."""


@dataclass
class RawServer:
    """Started at once; `faults` collects every line of its stdout that is not JSON-RPC."""

    bench: Workbench
    temporary: Path
    flags: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.answers: dict[str, queue.SimpleQueue[Message | None]] = {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest_mcp", f"--python={self.bench.python}", *self.flags],
            cwd=self.bench.root,
            env={"PATH": os.environ["PATH"], "TMPDIR": str(self.temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.ask("initialize", INITIALIZE)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Silent("the server does not read any more") from error

    def begin(self, method: str, params: Message) -> str:
        """Ask, and return the id under which the answer can be had."""
        self.asked += 1
        identity = f"{OWN_ID}{self.asked}"
        self.answers[identity] = queue.SimpleQueue()
        self.send(json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}).encode())
        return identity

    def answer(self, identity: str) -> Message:
        try:
            answer = self.answers[identity].get(timeout=PATIENCE)
        except queue.Empty:
            answer = None
        if answer is None:
            raise Silent(f"no answer to {identity}")
        del self.answers[identity]
        return answer

    def ask(self, method: str, params: Message) -> Message:
        return self.answer(self.begin(method, params))

    def call(self, tool: str, arguments: Message) -> Message:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> int:
        """End it the way a client does, and return its exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.reader.join(PATIENCE)
            self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = read_message(line)
            if message is None:
                self.faults.append(repr(line[:500]))
            elif (waiting := self.answers.get(str(message.get("id")))) is not None and "method" not in message:
                waiting.put(message)
        for waiting in list(self.answers.values()):
            waiting.put(None)


def read_message(line: bytes) -> Message | None:
    """The message, or None where JSON-RPC 2.0 would not call it one."""
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
