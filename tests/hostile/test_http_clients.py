"""Clients on HTTP that leave, are slow, or are many; and bugs of our own."""

import fcntl
import json
import select
import socket
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from tests.support.projects.hanging import hanging
from tests.support.protocol.hostile_server import GONE_SECONDS, GROWTH, MEGABYTE, within
from tests.support.protocol.hostile_web import (
    ERAS,
    HOST,
    LEGACY,
    PING,
    Exchange,
    HostileWeb,
    closed,
    posted,
    status_of,
    written,
)
from tests.support.waiting import PATIENCE

# Our own limits, so that nobody has to wait for them; little space for those who do not read; and a bug while a
# file is there.
HASTY = """
import pathlib, socket, sys
from pytest_mcp.cli import main
from pytest_mcp.server import http_guard as guard, http_server, incoming
http_server.CHECK_SECONDS = 0.9
guard.BODY_SECONDS = 2
http_server.MAX_CONNECTIONS = 8
http_server.LEAST_TAKEN = 10_000
guard.MAX_BODIES = 2**20

def listen(endpoint, real=main.listen):
    bound = real(endpoint)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return bound

def admitted(body, real=incoming.admitted):
    if pathlib.Path("fault").exists():
        raise RuntimeError("our own bug")
    return real(body)

main.listen, incoming.admitted = listen, admitted
sys.exit(main.main())
"""


def is_healthy(web: HostileWeb) -> bool:
    return status_of(closed(web, written("GET /healthz HTTP/1.1", [HOST, ("Connection", "close")]))) == 200


@pytest.fixture(scope="module")
def hasty_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileWeb]:
    server = HostileWeb(tmp_path_factory.mktemp("hasty"), "--max-runs=1", program=("-c", HASTY))
    yield server
    server.close()


@pytest.fixture
def hasty(hasty_shelf: HostileWeb) -> HostileWeb:
    hasty_shelf.era = LEGACY
    return hasty_shelf


def close(exchange: Exchange) -> None:
    exchange.close()


def reset(exchange: Exchange) -> None:
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.close()


def half_close(exchange: Exchange) -> None:
    exchange.connection.shutdown(socket.SHUT_WR)


LEAVINGS: dict[str, Callable[[Exchange], None]] = {"closed": close, "reset": reset, "half closed": half_close}


@pytest.mark.parametrize(("era", "how"), [*product(ERAS, LEAVINGS)])
def test_a_client_that_leaves_takes_its_run_with_it(hasty: HostileWeb, era: str, how: str) -> None:
    hasty.era = era
    number = hanging(hasty)

    LEAVINGS[how](hasty.exchanges[number])

    within(GONE_SECONDS, lambda: not (hasty.leftovers() or hasty.folders()))
    hasty.cancel(number)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_leaves_while_it_waits_is_never_run(hasty: HostileWeb, era: str) -> None:
    hasty.era = era
    first = hanging(hasty)
    (hasty.root / "there").unlink()

    hasty.cancel(hasty.begin())
    hasty.cancel(first)
    # Whoever comes later has a turn later.
    found = hasty.call("discover_tests")

    assert isinstance(found, dict)
    assert found["count"] == 1
    assert not (hasty.root / "there").exists()


def test_a_request_that_does_not_come_to_its_end_is_not_waited_for(hasty: HostileWeb) -> None:
    """All at once, as each of them takes its time."""
    whole = posted(PING, hasty.headers("ping"))
    beginnings = {"nothing": b"", "a byte": whole[:1], "headers": whole[:100], "body": whole[:-1], "one more": whole}
    connections = {name: hasty.connect() for name in beginnings}

    for name, connection in connections.items():
        connection.sendall(beginnings[name])
    connections["one more"].sendall(whole[:50])
    said = {name: connection.makefile("rb").read() for name, connection in connections.items()}

    for connection in connections.values():
        connection.close()
    assert (said["nothing"], said["a byte"], said["headers"]) == (b"", b"", b"")
    assert status_of(said["body"]) == 408
    assert said["one more"].count(b"HTTP/1.1 ") == 1
    within(GONE_SECONDS, lambda: is_healthy(hasty))


def readable(connection: socket.socket, *, within: float) -> bool:
    """Whether something comes, or the end, in so many seconds."""
    return bool(select.select([connection], [], [], within)[0])


def test_of_too_many_connections_the_last_are_turned_away(hasty: HostileWeb) -> None:
    idle = [hasty.connect() for _ in range(8)]

    refused = closed(hasty, b"")
    for connection in idle:
        connection.close()

    assert status_of(refused) == 503
    within(GONE_SECONDS, lambda: is_healthy(hasty))


def test_bodies_that_are_too_much_together_are_turned_away(hasty: HostileWeb) -> None:
    half = posted(b"x" * (600 * 1024), {**hasty.headers(), "Content-Length": str(MEGABYTE)})
    with hasty.connect() as first, hasty.connect() as second:
        first.sendall(half)
        within(GONE_SECONDS, lambda: not unsent(first))
        second.sendall(half)
        said = first.recv(1000) + second.recv(1000)

    assert b"HTTP/1.1 503 " in said
    within(GONE_SECONDS, lambda: is_healthy(hasty))


def unsent(connection: socket.socket) -> bool:
    """Whether the other side has still to take something (SIOCOUTQ)."""
    return bool(struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0])


LARGE = {"test_large.py": "def test_large(): assert 0, 'x' * 190_000\n", "test_fine.py": "def test_fine(): pass\n"}


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_does_not_read_is_cut_off_and_holds_nobody_up(hasty: HostileWeb, era: str) -> None:
    hasty.era = era
    hasty.project(LARGE)
    before = hasty.memory()
    arguments = {"path": "test_large.py", "detail": "full"}
    body = hasty.body("tools/call", {"name": "execute_tests", "arguments": arguments})
    with narrow(hasty) as connection:
        connection.sendall(posted(body, hasty.headers()))
        connection.recv(1)

        other = hasty.call(path="test_fine.py")
        within(GONE_SECONDS, lambda: not descriptors_of_connections(hasty))
        got = drained(connection)

    assert isinstance(other, dict)
    assert other["verdict"] == "passed"
    assert 0 < got < 190_000
    assert hasty.memory("VmHWM") - before < GROWTH


def narrow(web: HostileWeb) -> socket.socket:
    """A connection for which the system keeps as little as it can."""
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", web.port))
    return connection


def test_a_client_that_reads_slowly_gets_all_of_it(hasty: HostileWeb) -> None:
    hasty.project(LARGE)
    arguments = {"path": "test_large.py", "detail": "full"}
    body = hasty.body("tools/call", {"name": "execute_tests", "arguments": arguments})
    said = b""

    with narrow(hasty) as connection, hasty.connect() as silent:
        connection.sendall(posted(body, {**hasty.headers(), "Connection": "close"}))
        while part := connection.recv(MEGABYTE):
            said += part
            readable(silent, within=0.01)

    assert said.endswith(b"0\r\n\r\n")
    assert said.count(b"x" * 190_000) >= 2


def descriptors_of_connections(web: HostileWeb) -> int:
    """How many connections the server has, by the table of the kernel."""
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    fields = [line.split() for line in lines]
    return sum(local.endswith(f":{web.port:04X}") and state == "01" for _, local, _, state, *_ in fields)


def drained(connection: socket.socket) -> int:
    got = 0
    with suppress(ConnectionError):
        while part := connection.recv(MEGABYTE):
            got += len(part)
    return got


def test_a_bug_on_the_way_to_the_sdk_costs_one_answer_and_is_told_to_the_operator_alone(hasty: HostileWeb) -> None:
    fault = hasty.base / "fault"

    fault.touch()
    broken = hasty.post(PING)
    fault.unlink()
    mended = hasty.post(PING)

    assert (broken.status, broken.body) == (500, b"Internal Server Error")
    assert mended.status == 200
    _announcement, *lines = hasty.log.read_text().splitlines()
    assert ["our own bug" in json.loads(line)["traceback"] for line in lines] == [True]
