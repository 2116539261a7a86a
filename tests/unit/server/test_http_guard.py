"""In which order requests get through. Which ones get through at all is tested with real connections."""

from functools import partial

import anyio
from starlette.types import Message, Receive, Scope, Send

from pytest_mcp.config import endpoint
from pytest_mcp.server.http_guard import HEALTH, PATH, Guard

CLIENTS = 50
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def scope(method: str, path: str) -> Scope:
    headers = [(b"host", b"127.0.0.1")]
    return {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "headers": headers}


async def received() -> Message:
    return {"type": "http.request", "body": PING}


async def test_health_and_running_calls_come_before_clients_that_connect_at_once() -> None:
    order: list[str] = []

    async def enter(_scope: Scope, _receive: Receive, _send: Send) -> None:
        order.append("entered")

    async def answer(_message: Message) -> None:
        order.append("healthy")

    async def run() -> None:
        await anyio.sleep(0)
        order.append("went on")

    guard = Guard(enter, endpoint.parse("127.0.0.1:0", token=None, token_file=None, allowed_hosts=None))
    async with anyio.create_task_group() as tasks:
        for _ in range(CLIENTS):
            tasks.start_soon(partial(guard, scope("POST", PATH), received, answer))
        tasks.start_soon(guard, scope("GET", HEALTH), received, answer)
        tasks.start_soon(run)

    assert order.count("entered") == CLIENTS
    assert order.index("healthy") < CLIENTS / 2
    assert order.index("went on") < CLIENTS / 2
