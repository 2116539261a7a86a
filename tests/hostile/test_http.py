"""What strangers and broken clients send on HTTP, and who is let in."""

import gzip
import json
import socket
from collections.abc import Iterator
from itertools import product

import pytest

from tests.support.protocol.hostile_server import GROWTH, MEGABYTE
from tests.support.protocol.hostile_web import (
    ERAS,
    HOST,
    PING,
    TOKEN,
    Exchange,
    HostileWeb,
    closed,
    posted,
    status_of,
    written,
)

MAX_BODY = 16 * MEGABYTE


# --- requests that were not meant for this server --------------------------------------------------

NAMES = {
    "another name": ({"Host": "evil.example"}, 421),
    "a name that begins like ours": ({"Host": "127.0.0.1.evil.example"}, 421),
    "a name that ends like ours": ({"Host": "evil-localhost"}, 421),
    "a port that is none": ({"Host": "localhost:evil"}, 421),
    "a user in front": ({"Host": "evil@localhost"}, 421),
    "no name": ({"Host": ""}, 421),
    "a control sequence": ({"Host": "\x9b2J"}, 421),
    "a page elsewhere": ({"Origin": "http://evil.example"}, 403),
    "a page that was rebound": ({"Origin": "http://evil.example", "Host": "evil.example"}, 421),
    "a page without an origin": ({"Origin": "null"}, 403),
    "a page in a file": ({"Origin": "file://localhost"}, 403),
    "an origin with a path": ({"Origin": "http://localhost/x"}, 403),
}


@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/nowhere"])
@pytest.mark.parametrize("what", NAMES)
def test_what_was_not_meant_for_this_server_is_refused_whatever_its_path(web: HostileWeb, what: str, path: str) -> None:
    headers, status = NAMES[what]

    reply = web.ask(posted(PING, {**web.headers(), **headers}, line=f"GET {path} HTTP/1.1"))

    assert reply.status == status
    assert reply.headers["connection"] == "close"
    assert b"evil" not in reply.body


# --- requests that are none ------------------------------------------------------------------------

ROUTES = {
    "POST /": 404,
    "POST /mcp/": 404,
    "POST /mcp/../mcp": 404,
    "POST //mcp": 404,
    "POST http://evil.example/mcp": 404,
    "OPTIONS *": 404,
    "GET /.well-known/oauth-protected-resource": 404,
    "GET /mcp": 405,
    "HEAD /mcp": 405,
    "PUT /mcp": 405,
    "DELETE /mcp": 405,
    "OPTIONS /mcp": 405,
    "TRACE /mcp": 405,
    "POST /healthz": 405,
}


@pytest.mark.parametrize("line", ROUTES)
def test_there_are_two_paths_with_one_method_each(web: HostileWeb, line: str) -> None:
    said = closed(web, posted(b"", web.headers(), line=f"{line} HTTP/1.1"))

    assert status_of(said) == ROUTES[line]
    assert (b"\r\nallow: " in said.lower()) == (ROUTES[line] == 405)


JSON = ("Content-Type", "application/json")
CHUNKS = ("Transfer-Encoding", "chunked")
SHAPES = {
    "no HTTP": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no Host": written("POST /mcp HTTP/1.1", [JSON]),
    "two Hosts": written("POST /mcp HTTP/1.1", [HOST, HOST]),
    "a length and chunks": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "4"), CHUNKS])
    + b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "two lengths": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "1"), ("Content-Length", "2")]) + b"xx",
    "a list of lengths": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "1, 2")]) + b"xx",
    "a negative length": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "-1")]),
    "a length in words": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "two")]),
    "an endless length": written("POST /mcp HTTP/1.1", [HOST, ("Content-Length", "9" * 5000)]),
    "another encoding": written("POST /mcp HTTP/1.1", [HOST, ("Transfer-Encoding", "gzip, chunked")]),
    "two encodings": written("POST /mcp HTTP/1.1", [HOST, CHUNKS, CHUNKS]),
    "a space before the colon": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length : 4\r\n\r\n",
    "a header of control characters": b"POST /mcp HTTP/1.1\r\nHost: local\x1b[2Jhost\r\n\r\n",
    "a bare carriage return": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
    "chunks in the old HTTP": written("GET /healthz HTTP/1.0", [HOST, CHUNKS]) + b"0\r\n\r\n",
    "a line feed behind a chunk": written("POST /mcp HTTP/1.1", [HOST, CHUNKS]) + b"1\n{\r\n0\r\n\r\n",
    "a chunk that is none": written("POST /mcp HTTP/1.1", [HOST, CHUNKS]) + b"zz\r\n{}\r\n0\r\n\r\n",
    "a huge header": written("POST /mcp HTTP/1.1", [HOST, ("X", "x" * 100_000)]),
    "many headers": written("POST /mcp HTTP/1.1", [HOST, *[("X", "x")] * 10_000]),
    "a huge target": written(f"POST /{'x' * 100_000} HTTP/1.1", [HOST]),
}

# Whether the parser or the gate sees it first depends on the pieces in which it comes.
UNUSUAL = {
    "HTTP/2": {421},
    "a header of control characters": {421},
    "a huge header": {400, 431},
    "many headers": {400, 431},
    "a huge target": {400, 431},
}


@pytest.mark.parametrize("what", SHAPES)
def test_what_is_no_request_is_refused_and_nothing_behind_it_is_read(web: HostileWeb, what: str) -> None:
    """What is hidden behind such a request would be answered a second time."""
    said = closed(web, SHAPES[what])

    assert status_of(said) in UNUSUAL.get(what, {400})
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"Traceback" not in said


# --- bodies that are none --------------------------------------------------------------------------

# One of each kind: the others of `incoming` are tested there.
BODIES = {
    "nothing": b"",
    "no JSON": b"hello",
    "a batch": b"[" + PING + b"," + PING + b"]",
    "deep lists": b"[" * 50_000 + b"]" * 50_000,
    "UTF-16": PING.decode().encode("utf-16"),
    "NUL": bytes(100),
    "gzip": gzip.compress(PING),
    "list params": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    "a null id": b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    "another version": b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
}


@pytest.mark.parametrize(("what", "era"), [*product(BODIES, ERAS)])
def test_a_body_that_is_no_request_is_an_error_of_the_clients(web: HostileWeb, what: str, era: str) -> None:
    web.era = era

    reply = web.post(BODIES[what], {"Content-Encoding": "gzip"} if what == "gzip" else None)

    assert reply.status == 400
    assert json.loads(reply.body)["error"]["code"] in (-32700, -32600, -32602)
    assert b"Traceback" not in reply.body


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 400),
        ({"Content-Type": ""}, 400),
        ({"Accept": "application/json"}, 406),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_what_a_form_of_a_page_could_send_is_refused(
    web: HostileWeb, era: str, headers: dict[str, str], status: int
) -> None:
    web.era = era

    reply = web.post(PING, headers)

    assert reply.status == status


def test_a_body_beyond_every_measure_is_refused_and_memory_stays_bounded(web: HostileWeb) -> None:
    before = web.memory()
    headers = web.headers()

    announced = web.ask(posted(b"", {**headers, "Content-Length": str(MAX_BODY + 1)}))
    with web.connect() as connection:
        connection.sendall(written("POST /mcp HTTP/1.1", [*headers.items(), ("Transfer-Encoding", "chunked")]))
        said = poured(connection, 4 * MAX_BODY)

    assert announced.status == 413
    assert not said or status_of(said) == 413
    assert web.memory("VmHWM") - before < GROWTH


FLOODS = {"brackets": b"[],", "keys": b'{"a":1},', "numbers": b"1,"}


@pytest.mark.parametrize("what", FLOODS)
def test_bodies_that_are_all_values_cost_little_and_others_are_answered_meanwhile(web: HostileWeb, what: str) -> None:
    """Such a body, parsed, costs half a gigabyte and ten seconds."""
    flood = b"[" + FLOODS[what] * (15 * MEGABYTE // len(FLOODS[what])) + b"0]"
    before = web.forget_peak()

    asked = [web.open(flood, web.headers()) for _ in range(3)]
    healthy = web.ask(written("GET /healthz HTTP/1.1", [HOST]))
    replies = [exchange.whole() for exchange in asked]

    assert healthy.status == 200
    assert [reply.status for reply in replies] == [400] * 3
    assert {json.loads(reply.body)["error"]["code"] for reply in replies} == {-32600}
    assert web.memory("VmHWM") - before < 2 * GROWTH


def poured(connection: socket.socket, size: int) -> bytes:
    """What is said to somebody who sends that much; nothing, if the connection was gone before it could be read."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    try:
        for _ in range(size // 0x10000):
            connection.sendall(chunk)
        return connection.recv(4096)
    except ConnectionError:
        return b""


# --- unusual, and right ----------------------------------------------------------------------------


def test_a_body_in_the_smallest_pieces_is_put_together(web: HostileWeb) -> None:
    headers = [*web.headers("ping").items(), ("Transfer-Encoding", "chunked")]
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in PING) + b"0\r\nTrailer: x\r\n\r\n"

    exchange = Exchange(web.connect(), written("POST /mcp HTTP/1.1", headers))
    for start in range(0, len(chunks), 50):
        exchange.connection.sendall(chunks[start : start + 50])

    assert exchange.answer()["result"] == {}


# --- who may come in -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileWeb]:
    server = HostileWeb(tmp_path_factory.mktemp("guarded"), "--log-level=debug", token=TOKEN)
    yield server
    server.close()


TOKENS = {
    "none": [],
    "an empty one": [""],
    "the word alone": ["Bearer"],
    "the token alone": [TOKEN],
    "a wrong one": ["Bearer " + "x" * len(TOKEN)],
    "its beginning": [f"Bearer {TOKEN[:-1]}"],
    "more than it": [f"Bearer {TOKEN}x"],
    "in capitals": [f"Bearer {TOKEN.upper()}"],
    "another scheme": [f"Basic {TOKEN}"],
    "no scheme of ours": [f"Bearer: {TOKEN}"],
    "two of them": [f"Bearer {TOKEN}"] * 2,
    "a right and a wrong one": [f"Bearer {TOKEN}", "Bearer wrong"],
    "a list": [f"Bearer {TOKEN}, Bearer {TOKEN}"],
    "a large one": ["Bearer " + "x" * 10_000],
    "no ASCII": ["Bearer t\xf6ken\x9b2J"],
}


@pytest.mark.parametrize("what", TOKENS)
def test_only_the_token_itself_lets_in(guarded: HostileWeb, what: str) -> None:
    headers = [pair for pair in guarded.headers("ping").items() if pair[0] != "Authorization"]
    shown = [("Authorization", value) for value in TOKENS[what]]
    length = [("Content-Length", str(len(PING)))]

    reply = guarded.ask(written("POST /mcp HTTP/1.1", [*headers, *shown, *length]) + PING)

    assert reply.status == 401
    assert reply.headers["www-authenticate"].startswith("Bearer ")
    assert TOKEN.encode() not in reply.body


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_lets_in_however_its_scheme_is_written(guarded: HostileWeb, scheme: str) -> None:
    reply = guarded.post(PING, {"Authorization": f"{scheme} {TOKEN}"})

    assert reply.status == 200


def test_health_is_no_secret_and_other_paths_tell_nothing(guarded: HostileWeb) -> None:
    healthy = guarded.ask(written("GET /healthz HTTP/1.1", [HOST]))
    nowhere = guarded.ask(written("GET /nowhere HTTP/1.1", [HOST]))

    assert (healthy.status, healthy.body) == (200, b"ok\n")
    assert nowhere.status == 404


def test_every_line_of_the_log_is_json_that_a_terminal_can_show(guarded: HostileWeb) -> None:
    """Strangers' words end up there."""
    guarded.ask(written("GET /\x9b2J HTTP/1.1", [HOST, ("Origin", "\x9b2J")]))
    guarded.post('{"jsonrpc":"2.0","method":"notifications/\x1b\u202e","params":[]}'.encode())
    guarded.post(b'{"jsonrpc":"2.0","method":"notifications/\\u001b\\u202e","params":{"_meta":1}}')

    _announcement, *lines = guarded.log.read_text().splitlines()

    assert TOKEN not in "".join([*lines, *guarded.command])
    assert [json.loads(line)["level"] for line in lines]
    assert all(line.isprintable() for line in lines)
