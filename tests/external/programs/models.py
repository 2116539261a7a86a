"""A stand-in for a model's API, on this machine: asks for one call after the other and keeps what it is shown."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.external.programs.dialects import Body, Dialect, Event


@dataclass(frozen=True)
class Call:
    """A call that the model asks for, of a tool of one of the servers that a program has."""

    name: str
    tool: str
    arguments: dict[str, Any]
    server: str = "pytest"


class Model(ThreadingHTTPServer):
    """Where it stands in its list of calls it reads from the request: as many as were answered are behind it."""

    daemon_threads = True

    def __init__(self, dialect: Dialect, calls: Sequence[Call]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.dialect = dialect
        self.calls = calls
        # Those that offered tools of ours, and when: programs also ask for titles and the like.
        self.requests: list[Body] = []
        self.times: list[float] = []
        self.had_to_search = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def shown(self) -> list[str]:
        return self.dialect.shown(self.requests[-1]) if self.requests else []

    def handle_error(self, *_: object) -> None:
        """A program that has ended leaves its connections as they are."""

    def reply(self, body: Body) -> list[Event]:
        number = len(self.dialect.shown(body))
        tools = self.dialect.offered(body)
        if any(tool.is_for("pytest", "_tests") for tool in tools):
            self.requests.append(body)
            self.times.append(time.time())
        if number < len(self.calls):
            call = self.calls[number]
            found = [tool for tool in tools if tool.is_for(call.server, call.tool)]
            if found:
                return self.dialect.call(number, found[0], call.arguments)
            searched = self.dialect.search(body, f"{call.server} {call.tool}")
            self.had_to_search = self.had_to_search or searched is not None
            return searched or self.dialect.end(number)
        return self.dialect.end(number)


class Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not urlsplit(self.path).path.endswith(self.server.dialect.path):
            self._send(b"{}", "application/json")
            return
        events = self.server.reply(json.loads(body))
        lines = [
            f"event: {name}\ndata: {json.dumps(data)}" if name else f"data: {json.dumps(data)}" for name, data in events
        ]
        self._send("".join(f"{line}\n\n" for line in lines).encode(), "text/event-stream")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def standing_in(dialect: Dialect, calls: Sequence[Call]) -> Iterator[Model]:
    with Model(dialect, calls) as model:
        thread = threading.Thread(target=model.serve_forever, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            model.shutdown()
            thread.join()
