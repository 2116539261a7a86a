"""Which messages the SDK can answer, and the error for the others.

A message is one line of stdin, or the body of one HTTP request. The SDK drops what it cannot parse, and the caller
would wait forever. So it gets every message in a form that it can parse, and `BadMessage` holds the JSON-RPC error of
the others. Pure.
"""

import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from pydantic_core import from_json

from pytest_mcp.server.fast_start import VERSION_KEY

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

# Two thousand node ids of the greatest length, and as much again.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
# Ten times as many as two thousand node ids need. Parsing makes an object for each value: without this limit,
# sixteen megabytes of brackets would take half a gigabyte.
MAX_VALUES = 20_000
# As deep as the SDK's parser goes.
DEEPEST = 200
# A line that cannot be parsed is mended up to this length; rewriting a longer one takes too much memory.
MAX_MENDED = 1024 * 1024
# In characters. The SDK's errors repeat an unknown method or version whole.
MAX_WORD = 1_000
# In a line that is not parsed, the id is searched in so many bytes at its two ends.
_ID_WITHIN = 1024

# How the SDK's parser begins to say that a text has half of a surrogate pair, or other bytes that are not Unicode.
_NOT_UNICODE = ("unexpected end of hex", "lone leading surrogate", "invalid unicode")
# Half of a surrogate pair.
_HALF = re.compile("[\ud800-\udfff]")
_BRACKET = re.compile(rb"[][{}]")
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}

# The id as the first or the last member of a message, beside members that cannot hold brackets.
_ID = rb'"id"\s*+:\s*+(?P<id>"(?:[^"\\]|\\.)*"|-?[0-9]+)\s*+'
_OTHER = rb'\s*+"(?:jsonrpc|method)"\s*+:\s*+"[^"\\]*"\s*+'
_FIRST_ID = re.compile(rb"\s*+\{(?:" + _OTHER + rb",)*\s*+" + _ID + rb"[,}]")
_LAST_ID = re.compile(rb"[{,]\s*+" + _ID + rb"(?:," + _OTHER + rb")*\}\s*\Z")

Identity = int | str | None


class BadMessage(Exception):
    """A message that the SDK does not get; `reply` is its answer."""

    def __init__(self, code: int, sentence: str, identity: Identity = None) -> None:
        name = "Parse error" if code == PARSE_ERROR else "Invalid Request"
        super().__init__(f"{name}: {sentence}")
        self.code = code
        self.identity = identity

    @property
    def reply(self) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.identity, "error": {"code": self.code, "message": str(self)}}


# What the members of a request must be.
_REQUEST: dict[str, tuple[Callable[[Any], bool], str]] = {
    "jsonrpc": (lambda value: value == "2.0", 'must be "2.0"'),
    "id": (lambda value: _identity(value) is not None, "must be an integer or a string of valid Unicode"),
    "method": (lambda value: isinstance(value, str), "must be a string"),
    "params": (lambda value: value is None or isinstance(value, dict), "must be an object"),
}


def admitted(line: bytes) -> bytes:
    """The message, with U+FFFD for invalid text; raises `BadMessage`."""
    _check_extent(line)
    try:
        _check_shape(from_json(line))
    except ValueError as error:
        message = _parsed_with_halves(line, str(error))
        _check_shape(message)
        line = _HALF.sub("\ufffd", json.dumps(message, ensure_ascii=False)).encode()
    return line


def _parsed_with_halves(line: bytes, reason: str) -> Any:
    """What the SDK's parser refuses for this reason, if that is only text that is not Unicode."""
    if reason.startswith("number") or (len(line) > MAX_MENDED and reason.startswith(_NOT_UNICODE)):
        raise BadMessage(INVALID_REQUEST, reason, _seen_identity(line))
    if len(line) > MAX_MENDED:
        raise BadMessage(PARSE_ERROR, reason)
    try:
        return json.loads(line.decode("utf-8", errors="surrogateescape"))
    except ValueError:
        raise BadMessage(PARSE_ERROR, reason) from None


def _check_extent(line: bytes) -> None:
    if len(line) > MAX_MESSAGE_BYTES:
        raise BadMessage(
            INVALID_REQUEST, f"a message has at most {MAX_MESSAGE_BYTES} bytes", _seen_identity(line[:_ID_WITHIN])
        )
    if _count(line, b"[{") <= DEEPEST and _count(line, b",:") <= MAX_VALUES:
        return
    # That counted brackets and commas in strings too, such as parametrised node ids. Count without the strings.
    outside = _outside_strings(line)
    if outside is None or _count(outside, b"[]{},:") > MAX_VALUES:
        raise BadMessage(INVALID_REQUEST, f"a message has at most {MAX_VALUES} values", _seen_identity(line))
    if max(accumulate(_STEPS[bracket] for bracket in _BRACKET.findall(outside)), default=0) > DEEPEST:
        raise BadMessage(INVALID_REQUEST, f"a message is nested at most {DEEPEST} levels deep", _seen_identity(line))


def _count(line: bytes, characters: bytes) -> int:
    return sum(map(line.count, characters))


def _outside_strings(line: bytes) -> bytes | None:
    """The line without its strings; None if there are too many of them. A regular expression takes more memory."""
    unescaped = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 2 * MAX_VALUES:
        return None
    return b"".join(unescaped.split(b'"')[::2])


def _seen_identity(line: bytes) -> Identity:
    """The id of a message that is not parsed, if it is the first or the last member."""
    match = _FIRST_ID.match(line[:_ID_WITHIN]) or _LAST_ID.search(line[-_ID_WITHIN:])
    try:
        return None if match is None else _identity(json.loads(match["id"]))
    except ValueError:
        return None


def _check_shape(message: Any) -> None:
    """Raise `BadMessage` unless the SDK can answer it. Responses and notifications are never answered, so they pass."""
    if isinstance(message, list):
        raise BadMessage(INVALID_REQUEST, "batches are not served; send one message at a time")
    if not isinstance(message, dict):
        raise BadMessage(INVALID_REQUEST, "a message is an object")
    is_response = "method" not in message and bool({"result", "error"} & message.keys())
    is_notification = "id" not in message and isinstance(message.get("method"), str)
    if is_response or is_notification:
        return
    faults = [f"{name} {words}" for name, (fits, words) in _REQUEST.items() if not fits(message.get(name))]
    if {"result", "error"} & message.keys():
        faults.append("a request has neither a result nor an error")
    faults = faults or [
        f"{name} has at most {MAX_WORD} characters"
        for name, word in _repeated_by_sdk(message).items()
        if len(str(word)) > MAX_WORD
    ]
    if faults:
        raise BadMessage(INVALID_REQUEST, faults[0], _identity(message.get("id")))


def _repeated_by_sdk(request: dict[str, Any]) -> dict[str, Any]:
    params = request.get("params") or {}
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return {"method": request["method"], "protocolVersion": params.get("protocolVersion"), VERSION_KEY: version}


def _identity(value: Any) -> Identity:
    """None for an id that cannot be sent back."""
    is_text = isinstance(value, str) and not _HALF.search(value)
    # Not isinstance: True is not an integer here.
    return value if is_text or type(value) is int else None
