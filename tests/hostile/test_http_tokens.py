"""Who is let in over HTTP: only a client with the token, which appears in no log."""

import json
from collections.abc import Iterator

import pytest

from tests.support.protocol.hostile_web import HOST, PING, TOKEN, HostileWeb, written


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
