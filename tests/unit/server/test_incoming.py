"""A line is a request that the SDK answers, a notification or response that nobody does, or it is refused."""

import json
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from pytest_mcp.report import serialize
from pytest_mcp.server import incoming
from pytest_mcp.server.fast_start import VERSION_KEY
from pytest_mcp.server.incoming import (
    DEEPEST,
    INVALID_REQUEST,
    MAX_MENDED,
    MAX_MESSAGE_BYTES,
    MAX_VALUES,
    PARSE_ERROR,
    BadMessage,
    Identity,
    admitted,
)


def refusal(line: bytes) -> tuple[int, Identity] | None:
    """The code and the id that are answered; None for a message that is left to the SDK."""
    try:
        admitted(line)
    except BadMessage as refused:
        reply = json.loads(serialize.line(refused.reply).encode())
        return reply["error"]["code"], reply["id"]
    return None


def call(arguments: bytes, *, identity: bytes = b"7") -> bytes:
    """As most clients write it: the id comes last, behind what is too much."""
    head = b'{"method":"tools/call","params":{"name":"execute_tests","arguments":'
    return head + arguments + b'},"jsonrpc":"2.0","id":' + identity + b"}"


def ping(params: object = None, **members: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"} | ({} if params is None else {"params": params})
    return json.dumps(message | members).encode()


HALF = "\ud800"
LONG = "x" * 2000
DEEP = b"[" * 5000 + b"]" * 5000
REFUSED = {
    "no JSON": (b"hello", PARSE_ERROR, None),
    "half of it": (b'{"jsonrpc":"2.0","id":77,"method":"tools/l', PARSE_ERROR, None),
    "UTF-16": ("{}".encode("utf-16"), PARSE_ERROR, None),
    "a number": (b"42", INVALID_REQUEST, None),
    "null": (b"null", INVALID_REQUEST, None),
    "an empty object": (b"{}", INVALID_REQUEST, None),
    "a batch": (b"[" + ping() + b"]", INVALID_REQUEST, None),
    "list params": (ping([]), INVALID_REQUEST, 1),
    "text as params": (ping("x", id="a"), INVALID_REQUEST, "a"),
    "a null id": (ping(id=None), INVALID_REQUEST, None),
    "a truth value as id": (ping(id=True), INVALID_REQUEST, None),
    "an id without a method": (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1),
    "a method that is no text": (b'{"jsonrpc":"2.0","method":1,"params":"bar"}', INVALID_REQUEST, None),
    "another JSON-RPC": (ping(jsonrpc="1.0"), INVALID_REQUEST, 1),
    "no JSON-RPC": (b'{"id":1,"method":"ping"}', INVALID_REQUEST, 1),
    "an integer of 5,000 digits": (call(b"9" * 5000), INVALID_REQUEST, 7),
    "an id of 5,000 digits": (call(b"{}", identity=b"9" * 5000), INVALID_REQUEST, None),
    "5,000 levels": (call(DEEP), INVALID_REQUEST, 7),
    "5,000 levels behind the id": (ping(id="\u00e4")[:-1] + b',"params":' + DEEP + b"}", INVALID_REQUEST, "\u00e4"),
    "an error too": (ping(error={"code": 1, "message": ""}), INVALID_REQUEST, 1),
    "a result too": (ping(id="q", result={}), INVALID_REQUEST, "q"),
    "half a character as id": (ping(id=HALF), INVALID_REQUEST, None),
    "an id that is no text": (b'{"jsonrpc":"2.0","id":"a\xff","method":"ping"}', INVALID_REQUEST, None),
    "half a character as id of a deep message": (call(DEEP, identity=rb'"\ud800"'), INVALID_REQUEST, None),
    "half a character as id of a message that is too long to be mended": (
        ping({"a": "x" * MAX_MENDED}, id=HALF),
        INVALID_REQUEST,
        None,
    ),
    "no JSON in a message that is too long to be mended": (ping("x" * MAX_MENDED)[:-1], PARSE_ERROR, None),
    "a long method": (ping(method=LONG), INVALID_REQUEST, 1),
    "a long version": (ping({"protocolVersion": LONG}, method="initialize"), INVALID_REQUEST, 1),
    "a long version of a stateless request": (ping({"_meta": {VERSION_KEY: LONG}}), INVALID_REQUEST, 1),
    "one level too many": (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), INVALID_REQUEST, None),
    "a line that is too long": (b'{"id":7,"x":"' + b"x" * MAX_MESSAGE_BYTES, INVALID_REQUEST, 7),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_sdk_would_drop_is_refused_with_the_id_if_it_has_one(what: str) -> None:
    line, code, identity = REFUSED[what]

    assert refusal(line) == (code, identity)


NOT_ANSWERED = {
    "a notification": b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    "a notification with list params": b'{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
    "a notification of another JSON-RPC": b'{"jsonrpc":"1.0","method":"notifications/initialized"}',
    "a response": b'{"jsonrpc":"2.0","id":1,"result":{}}',
    "a response that is none": b'{"jsonrpc":"2.0","id":[],"result":7}',
    "an error": b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}',
}


@pytest.mark.parametrize("what", NOT_ANSWERED)
def test_notifications_and_responses_are_never_answered(what: str) -> None:
    assert admitted(NOT_ANSWERED[what]) == NOT_ANSWERED[what]


MEGABYTE = 2**20
FLOODS = {
    "brackets": b"[" * MEGABYTE,
    "closing brackets": call(b"[" + b"[]," * (MEGABYTE // 3) + b"[]]"),
    "braces": call(b"[" + b"{}," * (MEGABYTE // 3) + b"{}]"),
    "keys": call(b"{" + b'"a":1,' * (MEGABYTE // 6) + b'"b":1}'),
    "numbers": call(b"[" + b"1," * (MEGABYTE // 2) + b"1]"),
    "empty strings": call(b"[" + b'"",' * (MEGABYTE // 3) + b'""]'),
    "a little too much": call(b"[" + b"1," * MAX_VALUES + b"1]"),
}


@pytest.mark.parametrize("what", FLOODS)
def test_what_would_become_a_flood_of_values_is_never_parsed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "from_json", lambda _line: pytest.fail("it was parsed"))

    assert refusal(FLOODS[what]) == (INVALID_REQUEST, None if what == "brackets" else 7)


LARGE = {
    "two thousand node ids": json.dumps({"node_ids": ['test_a.py::test["{[,:\\' + "x" * 4000 + "]"] * 2000}),
    "one long string": json.dumps('[{,:\\"' * MEGABYTE),
    "as deep as can be": "[" * (DEEPEST - 2) + "]" * (DEEPEST - 2),
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_in_strings_is_not_taken_for_values(what: str) -> None:
    line = call(LARGE[what].encode())

    assert admitted(line) is line


ODD: list[Any] = [None, True, 0, -(2**70), 0.5, float("nan"), 1e400, "", "2.0", "\ud800", [], [1], {}, {"a": [None]}]
VALUES = st.sampled_from(ODD)
MEMBERS = {
    "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2.0]),
    "id": VALUES,
    "method": st.just("ping") | VALUES,
    "params": VALUES,
    "result": VALUES,
    "error": st.just({"code": 1, "message": ""}) | VALUES,
}


@given(st.fixed_dictionaries({}, optional=MEMBERS) | VALUES)
def test_the_sdk_gets_every_request_that_it_can_answer_and_nothing_that_waits_for_an_answer(message: Any) -> None:
    line = json.dumps(message).encode()
    is_request = isinstance(message, dict) and "method" in message and "id" in message
    is_response_too = is_request and bool({"result", "error"} & message.keys())

    if refusal(line) is None:
        assert isinstance(read_by_sdk(admitted(line)), types.JSONRPCRequest) == is_request
        assert not is_response_too
    else:
        assert is_response_too or not isinstance(read_by_sdk(line), types.JSONRPCRequest)


def read_by_sdk(line: bytes) -> types.JSONRPCMessage | None:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ud800", "\ufffd"),
        (rb"\uDFFF\ud83d", "\ufffd\ufffd"),
        (rb"\ud83d\ude00", "😀"),
        (rb"\ud800\ud83d\ude00\udc00", "\ufffd😀\ufffd"),
        (rb"\\ud800\ud800", "\\ud800\ufffd"),
        (rb"\\ud83d\udc00", "\\ud83d\ufffd"),
        (rb"\\\ud800", "\\\ufffd"),
        (rb"\n\ud800\t", "\n\ufffd\t"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80 \\ud800", "\ufffd\ufffd\ufffd \ufffd"),
    ],
)
def test_what_is_no_text_is_mended_and_all_else_is_kept(written: bytes, read: str) -> None:
    assert from_json(admitted(b'{"jsonrpc":"2.0","method":"' + written + b'"}'))["method"] == read


@given(st.text(st.sampled_from('\\u"d8cf09aE{[😀é\n'), max_size=30))
def test_any_text_that_python_can_escape_arrives(text: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": text}

    for line in (json.dumps(message), json.dumps(message, ensure_ascii=False)):
        assert json.loads(admitted(line.encode())) == message


@given(st.binary(max_size=60) | st.text(st.sampled_from('\\u"d8c9aE{}[],:1 '), max_size=60).map(str.encode))
def test_no_bytes_are_a_bug(line: bytes) -> None:
    """Whatever is admitted can be parsed; everything else is refused with a reply that is JSON."""
    if refusal(line) is None:
        from_json(admitted(line))
