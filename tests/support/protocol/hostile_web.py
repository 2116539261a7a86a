"""The same server on HTTP, with real connections: whatever is checked of it on stdio can be checked here too."""

import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.support.protocol.hostile_server import HostileServer, within
from tests.support.waiting import PATIENCE

LEGACY = "2025-06-18"
MODERN = "2026-07-28"
ERAS = (LEGACY, MODERN)
# Long enough to be taken, and found wherever it should not be.
TOKEN = "canary-7f3a9b-0123456789abcdef"
HOST = ("Host", "localhost")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
_ANNOUNCED = re.compile(r"on http://\S+?:(\d+)/mcp\n")


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """One request on a connection of its own, and what comes back, as it comes."""

    def __init__(self, connection: socket.socket, data: bytes) -> None:
        self.connection = connection
        self.heard: list[dict[str, Any]] = []
        connection.sendall(data)
        self.response = HTTPResponse(connection)

    def begin(self) -> None:
        if not self.response.headers:
            self.response.begin()

    def whole(self) -> Reply:
        """Everything, as it is."""
        self.begin()
        body = self.response.read()
        self.close()
        return Reply(self.response.status, {k.lower(): v for k, v in self.response.headers.items()}, body)

    def messages(self) -> Iterator[dict[str, Any]]:
        """What is said in JSON-RPC, whether in one piece or as a stream."""
        self.begin()
        if not (self.response.headers["content-type"] or "").startswith("text/event-stream"):
            yield json.loads(self.response.read())
            return
        while line := self.response.readline():
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))

    def answer(self) -> dict[str, Any]:
        """The last word; notifications before it are kept in `heard`."""
        for message in self.messages():
            self.heard.append(message)
            if "method" not in message:
                self.close()
                return message
        raise AssertionError(f"the stream ended without an answer: {self.heard}")

    def close(self) -> None:
        self.response.close()
        self.connection.close()


class HostileWeb(HostileServer):
    def __init__(self, base: Path, *flags: str, token: str | None = None, **more: Any) -> None:
        self.era = LEGACY
        self.token = token
        self.exchanges: dict[object, Exchange] = {}
        super().__init__(base, "--http=0", *flags, token=token, **more)
        within(PATIENCE, lambda: self._announced() or self.process.poll() is not None)
        announced = self._announced()
        assert announced is not None, self.logged()
        self.port = int(announced[1])

    def _announced(self) -> re.Match[str] | None:
        return _ANNOUNCED.search(self.logged())

    def greeted(self) -> Self:
        """Nothing is kept between requests, so there is no handshake."""
        return self

    # --- the wire ------------------------------------------------------------------------------

    def connect(self, *, timeout: float = PATIENCE) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, data: bytes) -> Reply:
        """These bytes on a connection of their own, and the first answer to them."""
        return Exchange(self.connect(), data).whole()

    def headers(self, method: str = "tools/call", name: str = "execute_tests") -> dict[str, str]:
        """What a client of the present era sends with a request."""
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.era,
        }
        if self.token is not None:
            usual["Authorization"] = f"Bearer {self.token}"
        if self.era == MODERN:
            usual |= {"Mcp-Method": method} | (
                {"Mcp-Name": name} if method.startswith(("tools/call", "tasks/")) else {}
            )
        return usual

    def body(self, method: str, params: Mapping[str, Any], identity: int | str = 1) -> bytes:
        meta: dict[str, Any] = dict(params.get("_meta", {}))
        if self.era == MODERN:
            keys = {"protocolVersion": MODERN, "clientCapabilities": {}}
            meta = {f"io.modelcontextprotocol/{key}": value for key, value in keys.items()} | meta
        params = {**params, "_meta": meta} if meta else params
        return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}).encode()

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> Reply:
        """With the usual headers, and these."""
        return self.ask(posted(body, {**self.headers(), **(headers or {})}))

    def open(self, body: bytes, headers: Mapping[str, str]) -> Exchange:
        return Exchange(self.connect(), posted(body, headers))

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> str:
        identity = self.next_id()
        name = str((params or {}).get("taskId" if method.startswith("tasks/") else "name"))
        self.exchanges[identity] = self.open(self.body(method, params or {}, identity), self.headers(method, name))
        return identity

    def cancel(self, identity: object) -> None:
        self.exchanges.pop(identity).close()

    def reply(self, identity: object, *, limit: float = PATIENCE) -> dict[str, Any]:
        exchange = self.exchanges.pop(identity)
        exchange.connection.settimeout(limit)
        return exchange.answer()

    def close(self, limit: float = PATIENCE) -> int:
        for exchange in self.exchanges.values():
            exchange.close()
        self.process.terminate()
        return super().close(limit)


def posted(body: bytes, headers: Mapping[str, str], *, line: str = "POST /mcp HTTP/1.1") -> bytes:
    """A request as it goes over the wire, with a length that is true unless one is given."""
    given = headers if {"Content-Length", "Transfer-Encoding"} & set(headers) else lengthened(headers, body)
    return written(line, [*given.items()]) + body


def lengthened(headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    return {**headers, "Content-Length": str(len(body))}


def written(line: str, headers: Sequence[tuple[str, str]]) -> bytes:
    return "".join([f"{line}\r\n", *(f"{name}: {value}\r\n" for name, value in headers), "\r\n"]).encode("latin-1")


def closed(web: HostileWeb, data: bytes) -> bytes:
    """What comes back before the server closes the connection by itself."""
    with web.connect() as connection:
        connection.sendall(data)
        return connection.makefile("rb").read()


def status_of(said: bytes) -> int:
    return int(said.split()[1])
