"""Dialogues with the server in raw lines, for both eras of the protocol, most of them unusual.

A dialogue is a list of turns: bytes that are sent, and how many answers to wait for before the next ones.
"""

import json
from typing import Any, NamedTuple

from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from pytest_mcp.server import fast_start

Message = dict[str, Any]


class Turn(NamedTuple):
    data: bytes
    answers: int
    # Answers to what the SDK would drop without a word.
    refusals: int = 0


CLIENT = {"name": "raw", "version": "1"}
PREFIX = "io.modelcontextprotocol/"
STATELESS = "2026-07-28"
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(identity: Any, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "method": method, **({"params": params} if params else {})}


def initialize(identity: Any = 0, *, version: str = "2025-06-18", **params: Any) -> Message:
    usual = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return request(identity, "initialize", **usual | params)


def enveloped(
    identity: Any, method: str, *, version: Any = STATELESS, capabilities: Any = None, **params: Any
) -> Message:
    meta = {f"{PREFIX}protocolVersion": version, f"{PREFIX}clientInfo": CLIENT}
    return request(identity, method, _meta=meta | {f"{PREFIX}clientCapabilities": capabilities or {}}, **params)


def cancel(identity: Any) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identity}}


def line(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8") + b"\n"


def asked(message: Any) -> Turn:
    return Turn(message if isinstance(message, bytes) else line(message), 1)


def said(message: Any) -> Turn:
    """What is not answered."""
    return Turn(asked(message).data, 0)


def refused(message: Any) -> Turn:
    """What the SDK does not answer, and we do."""
    return Turn(asked(message).data, 0, refusals=1)


def at_once(*turns: Turn) -> list[Turn]:
    """All of it in one write."""
    data, answers, refusals = zip(*turns, strict=True)
    return [Turn(b"".join(data), sum(answers), sum(refusals))]


def byte_by_byte(*turns: Turn) -> list[Turn]:
    return [
        Turn(turn.data[n : n + 1], turn.answers * (n == len(turn.data) - 1))
        for turn in turns
        for n in range(len(turn.data))
    ]


NO_TOOL = {"name": "no_such_tool", "arguments": {}}
HANDSHAKE = (asked(initialize()), said(INITIALIZED))
LISTED = asked(request("list", "tools/list"))
PING = asked(request("ping", "ping"))
# Waits for everything that went before it, as it is answered by the SDK, which gets everything in order.
CALL = asked(request("call", "tools/call", **NO_TOOL))
DISCOVERED = asked(enveloped("discover", "server/discover"))
ENVELOPED_LIST = asked(enveloped("list", "tools/list"))
ENVELOPED_CALL = asked(enveloped("call", "tools/call", **NO_TOOL))
LARGE = "x" * 2 * fast_start.MAX_LINE

# As large clients introduce themselves.
CAPABLE = {
    "roots": {"listChanged": True},
    "sampling": {"context": {}, "tools": {}},
    "elicitation": {"form": {"applyDefaults": True}, "url": {}},
    "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}}},
    "extensions": {"com.example/other": {"settings": ["a"]}},
    "experimental": {"codex/sandbox-state": {"version": "1.0.0"}},
    "somethingNewer": [1, 2.5, None],
}
# As clients that show MCP Apps do.
WITH_APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
INTRODUCED = {
    "name": "raw",
    "version": "1",
    "title": "Roh & Söhne",
    "description": "",
    "websiteUrl": "about:",
    "newer": [1],
    "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}, {"src": ""}],
}

NO_MESSAGES: list[Any] = [[], [request(1, "ping")], 7, None]

# One message at a time, each when the one before it is answered.
DIALOGUES: dict[str, list[Turn]] = {
    "a handshake, then calls": [*HANDSHAKE, PING, LISTED, CALL, PING],
    "the list before the client is ready": [HANDSHAKE[0], LISTED, HANDSHAKE[1], CALL],
    "a call without a list": [*HANDSHAKE, CALL, LISTED],
    "a stateless client": [DISCOVERED, DISCOVERED, ENVELOPED_LIST, ENVELOPED_CALL, DISCOVERED],
    "a stateless client that does not introduce itself": [ENVELOPED_LIST, ENVELOPED_LIST, ENVELOPED_CALL],
    "bytes one by one": byte_by_byte(*HANDSHAKE, LISTED, CALL),
    "a client that can do everything": [
        asked(initialize(capabilities=CAPABLE, clientInfo=INTRODUCED, _meta={"progressToken": "a"})),
        said(INITIALIZED | {"params": {"_meta": {"x": 1}}}),
        asked(request(1, "tools/list", _meta={"progressToken": 0})),
        CALL,
    ],
    "a client of the app": [asked(initialize(capabilities=WITH_APPS)), HANDSHAKE[1], LISTED, CALL],
    "a stateless client of the app": [
        DISCOVERED,
        asked(enveloped("discover", "server/discover", capabilities=WITH_APPS)),
        asked(enveloped("list", "tools/list", capabilities=WITH_APPS)),
        ENVELOPED_LIST,
    ],
    "ids of every kind": [
        asked(initialize("0")),
        *[asked(request(identity, "ping")) for identity in (0, -1, 2**70, "", "ü\n\x7f")],
        *[asked(request("0", "ping")), asked(request("0", "tools/list")), asked(request("0", "tools/call", **NO_TOOL))],
    ],
    "the list first": [LISTED, *HANDSHAKE, LISTED],
    "ready before the handshake": [said(INITIALIZED), *HANDSHAKE, LISTED],
    "two handshakes": [*HANDSHAKE, asked(initialize(1, version="2024-11-05")), PING, LISTED],
    "a version that does not exist yet": [asked(initialize(version="2099-01-01")), said(INITIALIZED), LISTED],
    "an envelope after a handshake": [*HANDSHAKE, ENVELOPED_LIST, DISCOVERED, PING],
    "a handshake with an envelope": [asked(initialize(_meta=enveloped(0, "x")["params"]["_meta"])), LISTED],
    "an envelope of a version that is not served": [
        asked(enveloped(0, "server/discover", version="2099-01-01")),
        asked(enveloped(1, "tools/list", version="2025-06-18")),
        asked(enveloped(2, "tools/list", version=7)),
        ENVELOPED_LIST,
    ],
    "cancels that come too late": [HANDSHAKE[0], said(cancel(0)), HANDSHAKE[1], LISTED, said(cancel("list")), CALL],
    "a cancel of the opening without a handshake": [DISCOVERED, said(cancel("discover")), ENVELOPED_LIST, DISCOVERED],
    "no JSON": [refused(b"hello\n"), HANDSHAKE[0], refused(b'{"jsonrpc":\n'), said(b"\n"), HANDSHAKE[1], LISTED],
    "what is no message": [
        *HANDSHAKE,
        *[refused(odd) for odd in NO_MESSAGES],
        *[refused(request(1, "ping") | {"params": odd}) for odd in ([1], "x", 7)],
        refused(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"9" * 5000 + b"}}\n"),
        *[PING, LISTED],
    ],
    "a name that is half a character": [
        asked(json.dumps(initialize(clientInfo={"name": "\ud800", "version": "1"})).encode() + b"\n"),
        LISTED,
    ],
    "a name that is no text": [asked(line(initialize()).replace(b"raw", b"\xff")), LISTED],
    "a large opening": [asked(initialize(clientInfo={"name": LARGE, "version": "1"})), said(INITIALIZED), LISTED],
    "deep nesting": [
        asked(initialize(capabilities={"experimental": {"a": json.loads('{"a":' * 150 + "1" + "}" * 150)}})),
        LISTED,
    ],
    "half a line at the end": [*HANDSHAKE, LISTED, refused(b'{"jsonrpc":"2.0","id":1,"meth')],
    "nothing but half a line": [refused(b"{")],
}

# All in one write. The SDK answers requests that came together in no order that it would promise.
BURSTS: dict[str, list[Turn]] = {
    "a handshake, the list and calls": [*HANDSHAKE, LISTED, CALL, PING],
    "a stateless client": [DISCOVERED, ENVELOPED_LIST, ENVELOPED_CALL],
    "two hundred requests": [
        *HANDSHAKE,
        *[asked(request(n, "ping")) for n in range(80)],
        *[asked(request(n, "tools/list")) for n in range(80, 100)],
        *[asked(request(n, "tools/call", **NO_TOOL)) for n in range(100, 150)],
        *[asked(request(n, "no/such/method")) for n in range(150, 200)],
    ],
    "a cancelled handshake": [HANDSHAKE[0], said(cancel(0)), HANDSHAKE[1], LISTED],
    "a cancelled opening whose id comes again": [DISCOVERED, said(cancel("discover")), DISCOVERED, ENVELOPED_CALL],
    "a handshake twice": [*HANDSHAKE, *HANDSHAKE, PING, LISTED],
    "nonsense": [refused(b"hello\n\n"), refused([]), *HANDSHAKE, refused(b"hello\n"), PING, refused(b"\xff\n"), LISTED],
}


# The client has gone before the SDK is there. No calls: the SDK may or may not answer one that is under way then.
LEFT: dict[str, list[Turn]] = {
    "after the handshake": [*HANDSHAKE],
    "after the list": [*HANDSHAKE, LISTED],
    "after a stateless list": [DISCOVERED, ENVELOPED_LIST],
    "within the opening": [said(line(initialize())[:-1])],
}

# What each version of the protocol can ask before its first call.
HANDSHAKES = [[initialize(version=version), INITIALIZED, request(1, "ping")] for version in KNOWN_PROTOCOL_VERSIONS]
OPENINGS = [[enveloped(0, "server/discover", version=version)] for version in MODERN_PROTOCOL_VERSIONS]
LISTS = [
    *[[*messages, request(2, "tools/list")] for messages in HANDSHAKES],
    *[[*messages, enveloped(2, "tools/list")] for messages in OPENINGS],
]
