"""Clients that break the protocol, stop reading, or ask for everything at once."""

import fcntl
import json
import os
import select
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from pytest_mcp.tools import TOOLS
from tests.support.projects.sources import COUNTING, numbers_in
from tests.support.protocol.hostile_server import (
    ANSWER_SECONDS,
    GONE_SECONDS,
    GROWTH,
    MEGABYTE,
    SLACK,
    HostileServer,
    NewServer,
    within,
)
from tests.support.protocol.raw_client import INITIALIZE
from tests.support.workbench import Failure

# A pipe holds 64 KiB in pages, and the last page of each write may be half empty.
FULL_PIPE = 50_000


def call(identity: bytes, arguments: bytes) -> bytes:
    head = b'{"method":"tools/call","params":{"name":"execute_tests","arguments":'
    return head + arguments + b'},"jsonrpc":"2.0","id":"' + identity + b'"}'


NONSENSE = {
    "no JSON": b"hello\n",
    "half of it": b'{"jsonrpc":"2.0","id":77,"method":"tools/l\n',
    "empty lines": b"\n\r\n   \n",
    "a batch": b'[{"jsonrpc":"2.0","id":77,"method":"ping"},{"jsonrpc":"2.0","id":78,"method":"ping"}]\n',
    "deep lists": b"[" * 50_000 + b"]" * 50_000 + b"\n",
    "bad UTF-8": b'{"jsonrpc":"2.0","method":"\xff\xfe"}\n',
    "NUL": b"\0\0\0\n",
    "another version": b'{"jsonrpc":"1.0","id":"old","method":"ping"}\n',
    "an answer to nothing": b'{"jsonrpc":"2.0","id":80,"result":{}}\n',
    "a wrong progress": b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}\n',
    "a wrong cancel": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}\n',
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/nothing"}\n',
    "a huge number": b'{"jsonrpc":"2.0","method":"x","params":{"a":' + b"9" * 100_000 + b"}}\n",
    "a large line": b'{"jsonrpc":"2.0","method":"x","params":{"a":"' + b"x" * MEGABYTE + b'"}}\n',
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_on_the_wire_is_answered_with_an_error_or_not_at_all(server: HostileServer, what: str) -> None:
    before = set(server.replies)

    server.send_raw(NONSENSE[what])

    ping = server.request("ping")
    assert server.reply(ping)["result"] == {}
    fresh = set(server.replies) - before - {ping}
    assert fresh <= {None, "old"}
    assert all("error" in reply for number in fresh for reply in server.replies[number])


def test_a_line_beyond_every_measure_is_refused_and_memory_stays_bounded(server: HostileServer) -> None:
    before = server.forget_peak()
    head = b'{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"name":"'

    server.send_raw(head)
    for _ in range(64):
        server.send_raw(b"x" * MEGABYTE)
    server.send_raw(b'"}}\n')

    assert server.reply("huge")["error"]["code"] == -32600
    assert server.reply(server.request("ping"))["result"] == {}
    assert len(server.replies["huge"]) == 1
    assert server.memory("VmHWM") - before < GROWTH


WAITING: dict[str, tuple[bytes, int, object]] = {
    "list params": (b'{"jsonrpc":"2.0","id":"list","method":"ping","params":[]}', -32600, "list"),
    "5,000 digits": (call(b"digits", b'{"timeout":' + b"9" * 5000 + b"}"), -32600, "digits"),
    "5,000 levels": (call(b"levels", b"[" * 5000 + b"]" * 5000), -32600, "levels"),
    "all brackets": (call(b"brackets", b"[" + b"[]," * (5 * MEGABYTE) + b"[]]"), -32600, "brackets"),
    "all keys": (call(b"keys", b"{" + b'"a":1,' * (5 * MEGABYTE // 2) + b'"a":1}'), -32600, "keys"),
    "all numbers": (call(b"numbers", b"[" + b"1," * (15 * MEGABYTE // 2) + b"1]"), -32600, "numbers"),
    "one string": (call(b"string", b'"' + b"x" * (15 * MEGABYTE) + b'"'), -32602, "string"),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    "no JSON": (b'{"jsonrpc":', -32700, None),
}


@pytest.mark.parametrize("what", WAITING)
def test_nobody_who_asks_waits_for_ever_and_memory_stays_bounded(server: HostileServer, what: str) -> None:
    line, code, identity = WAITING[what]
    server.replies.pop(None, None)
    before = server.forget_peak()

    server.send_raw(line + b"\n")

    assert server.reply(identity)["error"]["code"] == code
    assert server.memory("VmHWM") - before < 2 * GROWTH


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"name": "run_shell", "arguments": {"command": "id"}}, "name"),
        ({"name": 7}, "name"),
        ({}, "name"),
        (None, "params"),
        ({"name": "execute_tests", "arguments": "x"}, "arguments"),
        ({"name": "execute_tests", "arguments": {"timeout": "x"}}, "timeout"),
    ],
)
def test_unknown_tools_and_wrong_arguments_are_errors_that_name_the_field(
    server: HostileServer, params: dict[str, object] | None, field: str
) -> None:
    request: dict[str, object] = {"jsonrpc": "2.0", "id": f"{params}", "method": "tools/call"}
    server.send(request if params is None else {**request, "params": params})

    error = server.reply(f"{params}")["error"]

    assert error["code"] == -32602
    assert error["message"].startswith(f"Invalid params: {field}: ")
    assert "jsonrpc" not in error["message"]
    assert set(error["data"]) == {"field", "detail", "received_value", "validation_errors"}
    assert error["data"]["field"] == field


def test_unknown_methods_are_errors(server: HostileServer) -> None:
    assert server.reply(server.request("no/such/method"))["error"]["code"] == -32601


def test_an_id_that_is_used_twice_costs_nobody_else_an_answer(server: HostileServer) -> None:
    server.project({"test_a.py": "def test_a(): pass\n"})
    message = {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "execute_tests"}}

    for _ in range(3):
        server.send(message)

    assert server.reply("same")
    within(GONE_SECONDS, lambda: not server.leftovers())
    assert 1 <= len(server.replies["same"]) <= 3


def test_requests_before_the_handshake_are_told_to_send_it_first(new_server: NewServer) -> None:
    server = new_server()

    early = [
        server.reply(server.request("tools/call", {"name": "execute_tests", "arguments": {}})),
        server.reply(server.request("tools/list")),
    ]

    for reply, method in zip(early, ["tools/call", "tools/list"], strict=True):
        assert (reply["error"]["code"], reply["error"]["data"]["error_type"]) == (-32602, "not_initialized")
        assert reply["error"]["data"]["received_value"] == method
        assert "send initialize" in reply["error"]["message"]
    server.ready()


def unread(server: HostileServer) -> int:
    """The bytes that wait in the pipe from the server."""
    assert server.process.stdout is not None
    answer = fcntl.ioctl(server.process.stdout, termios.FIONREAD, b"\0" * 4)
    return int(struct.unpack("i", answer)[0])


def test_a_client_that_stops_reading_costs_little_and_gets_everything_later(server: HostileServer) -> None:
    source = "import pytest\n@pytest.mark.parametrize('n', range(300))\ndef test_n(n): assert 0, 'x' * 50 + str(n)\n"
    server.project({"test_a.py": source})
    before = server.forget_peak()
    numbers: list[str] = []

    server.reading.clear()
    # The listener is still waiting for one line: this is it.
    server.request("ping")
    writer = threading.Thread(target=lambda: numbers.extend(ask_for_much(server)))
    writer.start()
    within(20, lambda: unread(server) > FULL_PIPE)
    grown = server.memory("VmHWM") - before
    server.reading.set()
    writer.join()

    assert all(server.reply(number) for number in numbers)
    assert len(numbers) == 2 + 100 + 300 + 3
    assert grown < GROWTH


PING: dict[str, object] = {"jsonrpc": "2.0", "id": "x", "method": "ping"}
# Answered one after the other by the SDK too: what is behind one that blocks stays unread.
AGAIN: dict[str, object] = {"jsonrpc": "2.0", "id": "x", "method": "initialize", "params": INITIALIZE}


@pytest.mark.parametrize("when", ["before the SDK is there", "later"])
def test_a_client_that_leaves_without_having_read_keeps_nothing_alive(new_server: NewServer, when: str) -> None:
    """Nobody reads the answers, and what was said last is not read either."""
    is_later = when == "later"
    server = new_server().ready() if is_later else new_server()
    assert server.process.stdin is not None
    server.reading.clear()
    server.request("initialize", INITIALIZE)
    say_until_nobody_hears(server, AGAIN if is_later else PING)

    server.process.stdin.close()

    within(GONE_SECONDS, lambda: server.process.poll() is not None)
    server.reading.set()
    assert server.process.returncode == 0
    server.assert_gone()


def say_until_nobody_hears(server: HostileServer, message: dict[str, object]) -> None:
    assert server.process.stdin is not None
    client, line = server.process.stdin.fileno(), json.dumps(message).encode() + b"\n"
    os.set_blocking(client, False)
    while unread(server) < FULL_PIPE or select.select([], [client], [], 0)[1]:
        with suppress(BlockingIOError):
            os.write(client, line)


def ask_for_much(server: HostileServer) -> list[str]:
    calls = [server.begin(detail="tests", max_tokens=100_000) for _ in range(2)]
    lists = [server.request("tools/list") for _ in range(100)]
    return [*calls, *lists, *(server.request("ping") for _ in range(300)), *(server.begin(path="x") for _ in range(3))]


# Our own code, made to raise whatever a file names: the only way to meet a bug that is not there yet.
FAULTY = """
import builtins, pathlib, sys
from pytest_mcp.cli.main import main
from pytest_mcp.python import interpreter

real = interpreter.candidates

def candidates(config, folder):
    fault = pathlib.Path(config.root, "fault")
    if fault.exists():
        raise getattr(builtins, fault.read_text())("our own bug")
    return real(config, folder)

interpreter.candidates = candidates
sys.exit(main())
"""
FAULTS = {
    "exceptions": ["RuntimeError", "RecursionError", "MemoryError", "OSError", "StopIteration", "SystemExit"],
    "not even exceptions": ["GeneratorExit", "KeyboardInterrupt", "BaseException"],
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileServer]:
    server = HostileServer(tmp_path_factory.mktemp("faulty"), program=("-c", FAULTY)).ready()
    yield server
    server.close()


@pytest.mark.parametrize("kind", FAULTS)
def test_whatever_our_own_code_raises_costs_one_answer(faulty: HostileServer, kind: str) -> None:
    server = faulty

    for fault in FAULTS[kind]:
        server.project({"fault": fault})
        failure = server.answer(server.begin(), limit=ANSWER_SECONDS + SLACK)

        assert isinstance(failure, Failure)
        assert failure.code == -32603, fault
        assert fault in failure.message
        assert fault in failure.data["traceback"]
        assert f"{fault}: our own bug" in server.log.read_text()
    server.assert_unharmed()


def test_of_many_calls_a_few_run_and_the_others_wait_in_order_or_are_cancelled(new_server: NewServer) -> None:
    server = new_server("--max-runs=2").ready()
    server.project({"test_n.py": COUNTING, "running/.keep": ""})
    (server.root / "running" / ".keep").unlink()

    calls = [server.begin(node_ids=[f"test_n.py::test_n[{n}]"]) for n in range(200)]
    within(5, lambda: len(numbers_in(server.root / "seen")) == 2)
    ping, listed = server.request("ping"), server.request("tools/list")
    assert server.reply(ping)["result"] == {}
    assert len(server.reply(listed)["result"]["tools"]) == len(TOOLS)
    assert not set(calls) & set(server.replies)
    for number in calls[6:]:
        server.cancel(number)
    (server.root / "go").touch()
    answers = [server.answer(number) for number in calls[:6]]

    for n, answer in enumerate(answers):
        assert isinstance(answer, dict)
        assert (answer["verdict"], answer["summary"]["total"]) == ("passed", 1)
        assert answer["tests"][0]["node_id"] == f"test_n.py::test_n[{n}]"
    order = numbers_in(server.root / "order")
    assert sorted(order) == list(range(6))
    # Two run side by side, so a call can be overtaken by its neighbour and by nobody else.
    assert all(abs(place - n) <= 1 for place, n in enumerate(order))
    assert max(numbers_in(server.root / "seen")) <= 2
    server.assert_unharmed()
    assert not set(calls[6:]) & set(server.replies)


def test_two_clients_on_one_project_get_their_own_answers(new_server: NewServer) -> None:
    first = new_server().ready()
    second = new_server(f"--root={first.root}").greeted()
    source = "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_n(n): print('said by', n); assert 0, n\n"
    first.project({"test_a.py": source, "test_b.py": source})

    asked = [
        (server, file, n, server.begin(node_ids=[f"{file}::test_n[{n}]"]))
        for n in range(2)
        for server, file in ((first, "test_a.py"), (second, "test_b.py"))
    ]

    for server, file, n, number in asked:
        answer = server.answer(number)
        assert isinstance(answer, dict)
        (test,) = answer["tests"]
        assert (test["node_id"], answer["summary"]["total"]) == (f"{file}::test_n[{n}]", 1)
        assert f"said by {n}" in test["traceback"]
    first.assert_unharmed()
    assert second.faults == []
    assert second.reply(second.request("ping"))["result"] == {}
