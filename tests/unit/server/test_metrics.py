"""What `/metrics` shows, and to whom: the real library and the real guard, without a socket."""

from typing import Any

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed
from starlette.types import Message, Receive, Scope, Send

from pytest_mcp.config import endpoint
from pytest_mcp.server.http_guard import METRICS, Guard
from pytest_mcp.server.metrics import Metrics
from pytest_mcp.server.turns import CallSlots

SECRET = "0123456789abcdef"
GUARDED = endpoint.parse("8000", token=SECRET, token_file=None, allowed_hosts=None)
HOST = (b"host", b"localhost")
TOKEN = (b"authorization", f"Bearer {SECRET}".encode())


async def asked(guard: Guard, *headers: tuple[bytes, bytes], method: str = "GET") -> tuple[int, str]:
    sent: list[Message] = []
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "path": METRICS, "raw_path": METRICS.encode(),
        "headers": headers,
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await guard(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


async def never(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("this request is not for the SDK")


def samples(text: str) -> dict[Any, float]:
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parsed(text)
        for sample in family.samples
    }


async def test_calls_are_counted_by_tool_and_outcome_with_their_seconds() -> None:
    metrics = Metrics(CallSlots(at_once=2))
    for seconds in (0.2, 3.0):
        metrics.count({"tool": "execute_tests", "outcome": "answered", "seconds": seconds, "verdict": "failed"})
    metrics.count({"tool": "unknown", "outcome": "failed", "seconds": 0.0, "code": -32602})

    status, text = await asked(Guard(never, GUARDED, metrics.respond), HOST, TOKEN)

    shown, tool = samples(text), ("tool", "execute_tests")
    assert status == 200
    assert shown["pytest_mcp_calls_total", ("outcome", "answered"), tool] == 2
    assert shown["pytest_mcp_calls_total", ("outcome", "failed"), ("tool", "unknown")] == 1
    assert shown["pytest_mcp_call_seconds_sum", tool] == pytest.approx(3.2)
    assert shown["pytest_mcp_call_seconds_bucket", ("le", "0.25"), tool] == 1


async def test_running_and_waiting_calls_are_shown() -> None:
    calls = CallSlots(at_once=1)
    guard = Guard(never, GUARDED, Metrics(calls).respond)

    async def wait_for_a_slot() -> None:
        async with calls.one(lambda _ahead: None):
            pass

    async with anyio.create_task_group() as group, calls.one(lambda _ahead: None):
        group.start_soon(wait_for_a_slot)
        await anyio.wait_all_tasks_blocked()
        _, text = await asked(guard, HOST, TOKEN)

    shown = samples(text)
    assert [shown[f"pytest_mcp_{name}",] for name in ("running", "queue", "slots")] == [1, 1, 1]


async def test_metrics_are_behind_the_same_checks_as_calls() -> None:
    guard = Guard(never, GUARDED, Metrics(CallSlots(at_once=1)).respond)

    assert (await asked(guard, HOST))[0] == 401
    assert (await asked(guard, TOKEN, (b"host", b"evil.example")))[0] == 421
    assert (await asked(guard, TOKEN, HOST, (b"origin", b"http://evil.example")))[0] == 403
    assert (await asked(guard, TOKEN, HOST, method="POST"))[0] == 405


async def test_metrics_that_nobody_asked_for_do_not_exist() -> None:
    status, text = await asked(Guard(never, GUARDED), HOST, TOKEN)

    assert (status, METRICS in text) == (404, False)
