"""The front gives the SDK's answers, in the SDK's order, and loses nothing on the way to it."""

import copy
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from pytest_mcp.config.model import History
from pytest_mcp.server import fast_start
from pytest_mcp.server.app import MAX_UNREAD, Answers, heard
from pytest_mcp.server.fast_start import Handover
from pytest_mcp.server.stdio import Outlet
from tests.support.protocol.dialogues import (
    BURSTS,
    CALL,
    CAPABLE,
    DIALOGUES,
    HANDSHAKE,
    HANDSHAKES,
    INITIALIZED,
    INTRODUCED,
    LEFT,
    LISTED,
    LISTS,
    OPENINGS,
    PREFIX,
    WITH_APPS,
    Message,
    Turn,
    at_once,
    cancel,
    enveloped,
    initialize,
    line,
    request,
    said,
)
from tests.support.protocol.players import canonical, told_by_process, told_by_sdk, told_by_warm_process
from tests.support.workbench import Workbench


def answers_in(told: list[str], turns: list[Turn]) -> list[str]:
    """Without those to lines that the SDK would have dropped."""
    refusals = [entry for entry in told if is_refusal(json.loads(entry))]
    assert len(refusals) == sum(turn.refusals for turn in turns)
    return [entry for entry in told if entry not in refusals]


def is_refusal(answer: Message) -> bool:
    message: str = answer.get("error", {}).get("message", "")
    return message.startswith(("Parse error: ", "Invalid Request: "))


@pytest.mark.parametrize("name", DIALOGUES)
async def test_a_dialogue_is_answered_as_the_sdk_would(bench: Workbench, name: str) -> None:
    turns = DIALOGUES[name]

    told = told_by_warm_process(bench.config, turns)

    assert answers_in(told, turns) == await told_by_sdk(bench.config, turns)


@pytest.mark.parametrize("name", BURSTS)
async def test_what_comes_all_at_once_gets_the_same_answers_in_whatever_order(bench: Workbench, name: str) -> None:
    turns = at_once(*BURSTS[name])

    told = told_by_warm_process(bench.config, turns)

    assert sorted(answers_in(told, turns)) == sorted(await told_by_sdk(bench.config, turns))


@pytest.mark.parametrize("name", LEFT)
async def test_a_client_that_leaves_early_is_owed_the_same_answers(bench: Workbench, name: str) -> None:
    turns = [said(at_once(*LEFT[name])[0].data)]

    told = told_by_warm_process(bench.config, turns)

    assert sorted(told) == sorted(await told_by_sdk(bench.config, turns))


@pytest.mark.parametrize("turns", [DIALOGUES["a handshake, then calls"], at_once(*BURSTS["a stateless client"])])
async def test_the_same_holds_while_the_sdk_is_really_being_loaded(bench: Workbench, turns: list[Turn]) -> None:
    told = told_by_process(bench.config, turns)

    assert sorted(told) == sorted(await told_by_sdk(bench.config, turns))


def greeted(data: bytes, *, has_history: bool = False) -> tuple[list[str], Handover | None]:
    """What the front alone answers to a client that says this and no more, and what it hands over."""
    (source, client), (server, target) = os.pipe(), os.pipe()
    os.write(client, data)
    os.close(client)
    handover = fast_start.greet(source, target, has_history=has_history)
    os.close(source)
    os.close(target)
    with os.fdopen(server, encoding="utf-8") as answers:
        return [canonical(line) for line in answers], handover


@pytest.mark.parametrize("messages", LISTS)
async def test_every_version_gets_the_answers_of_the_sdk_from_the_front_alone_and_a_history_adds_one_tool(
    bench: Workbench, messages: list[Message]
) -> None:
    recording = bench.config._replace(history=History(str(bench.root / "history.db")))
    turns = [Turn(line(message), "id" in message) for message in messages]

    without, _ = greeted(b"".join(map(line, messages)))
    told, _ = greeted(b"".join(map(line, messages)), has_history=True)

    assert without == await told_by_sdk(bench.config, turns)
    assert told == await told_by_sdk(recording, turns)
    answers = [json.loads(entry) for entry in told]
    added = [answer["result"]["tools"].pop() for answer in answers if "tools" in answer["result"]]
    assert [tool["name"] for tool in added] == ["test_history"]
    assert answers == [json.loads(entry) for entry in without]


@pytest.mark.parametrize("messages", [*HANDSHAKES, *OPENINGS, []])
def test_nothing_is_handed_over_when_the_client_has_gone_and_all_is_answered(messages: list[Message]) -> None:
    told, handover = greeted(b"".join(map(line, messages)))

    assert (len(told), handover) == (sum("id" in message for message in messages), None)


def test_what_is_not_answered_is_handed_over_in_its_order_with_the_opening() -> None:
    opening, ready, listed, call = (turn.data for turn in (*HANDSHAKE, LISTED, CALL))

    told, handover = greeted(opening + ready + listed + call + b"half a li")

    assert len(told) == 2
    assert handover == Handover(opening=opening.rstrip(), rest=ready + call + b"half a li")


UNUSUAL = {
    "a client of the app": line(initialize(capabilities=WITH_APPS)),
    "a stateless client of the app": line(enveloped(0, "server/discover", capabilities=WITH_APPS)),
    **{
        name: DIALOGUES[name][0][0]
        for name in ("the list first", "no JSON", "deep nesting", "ready before the handshake")
    },
    "a version that does not exist yet": line(initialize(version="2099-01-01")),
    "an id that is no number": line(initialize(True)),
    "an icon without a place": line(initialize(clientInfo=INTRODUCED | {"icons": [{}]})),
    "a capability that is no truth value": line(initialize(capabilities={"roots": {"listChanged": 1}})),
    "an extension that is no object": line(initialize(capabilities={"extensions": {"x": None}})),
    "a token that is none": line(initialize(_meta={"progressToken": 1.5})),
    "an envelope of another version": line(enveloped(0, "tools/list", version="2025-06-18")),
    "an envelope with a cursor": line(enveloped(0, "tools/list", cursor="x")),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_opening_is_left_to_the_sdk_from_its_first_byte(name: str) -> None:
    data = UNUSUAL[name] + LISTED[0]

    assert greeted(data) == ([], Handover(rest=data))


def test_a_line_without_end_is_left_to_the_sdk_before_it_has_come() -> None:
    source, client = os.pipe()
    fcntl.fcntl(client, fcntl.F_SETPIPE_SZ, 4 * fast_start.MAX_LINE)
    os.write(client, b"x" * 2 * fast_start.MAX_LINE)

    handover = fast_start.greet(source, source)

    assert handover is not None
    assert len(handover.rest) > fast_start.MAX_LINE
    os.close(source)
    os.close(client)


ANYTHING = st.recursive(
    st.sampled_from([None, True, 0, 1, -1, 2**70, 0.5, "", "x", "2.0", "2025-06-18", "2026-07-28"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "name", "_meta"]), inner),
    max_leaves=4,
)
IDS = st.sampled_from([0, 1, "1", "ä"])
VERSIONS = st.sampled_from([*KNOWN_PROTOCOL_VERSIONS, "2099-01-01"])
CAPABILITIES = st.sampled_from([{}, CAPABLE, WITH_APPS])
KNOWN_NAMES = [
    *("jsonrpc", "id", "method", "params", "result", "error", "cursor", "_meta", "progressToken", "progress_token"),
    *("icons", "title", "listChanged", "list_changed", "form", "tools", f"{PREFIX}protocolVersion", "x"),
]


HANDSHAKES_ANY = st.builds(initialize, IDS, version=VERSIONS, capabilities=CAPABILITIES, clientInfo=st.just(INTRODUCED))
PLAIN = st.builds(request, IDS, st.sampled_from(["ping", "tools/list", "server/discover"])) | st.just(INITIALIZED)
WITH_ENVELOPE = st.builds(
    enveloped, IDS, st.sampled_from(["tools/list", "server/discover", "ping"]), version=st.just("2026-07-28") | VERSIONS
)


@st.composite
def damaged(draw: st.DrawFn, proper: st.SearchStrategy[Message]) -> Message:
    """What a client may say, often with some of it replaced, left out or added."""
    message = copy.deepcopy(draw(proper))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        inside = draw(st.sampled_from(list(objects_in(message))))
        name = draw(st.sampled_from([*inside, *KNOWN_NAMES]))
        if draw(st.booleans()):
            inside[name] = draw(ANYTHING)
        else:
            inside.pop(name, None)
    return message


def objects_in(value: Any) -> Iterator[Message]:
    if isinstance(value, dict):
        yield value
        for entry in value.values():
            yield from objects_in(entry)


# With a proper first message or without one: few examples would get any further than a damaged one.
CONVERSATIONS = st.one_of(
    st.tuples(st.just([initialize()]), st.lists(damaged(PLAIN), max_size=3)),
    st.tuples(st.just([enveloped(0, "server/discover")]), st.lists(damaged(WITH_ENVELOPE), max_size=3)),
    st.tuples(st.just([]), st.lists(damaged(HANDSHAKES_ANY | PLAIN | WITH_ENVELOPE), max_size=3)),
)


@given(CONVERSATIONS)
def test_whatever_the_front_answers_the_sdk_would_have_answered_alike(
    conversation: tuple[list[Message], list[Message]],
) -> None:
    messages = [*conversation[0], *conversation[1]]
    data = [line(message) for message in messages]
    config = Workbench(Path(__file__).parent).config

    told, handover = greeted(b"".join(data))

    # The front answers one after the other: everything up to its last answer is answered or held.
    requests = [number for number, message in enumerate(messages) if "id" in message]
    count = requests[len(told) - 1] + 1 if told else 0
    turns = [Turn(sent, "id" in message) for sent, message in zip(data[:count], messages, strict=False)]
    assert told == anyio.run(told_by_sdk, config, turns)
    held = [turn.data for turn in turns if not turn.answers]
    left = b"".join([*held, *data[count:]])
    assert handover in (Handover(data[0].rstrip() if told else b"", left), None)
    assert handover is not None or not requests[len(told) :]


async def test_the_sdk_hears_nothing_more_until_it_has_answered_the_opening() -> None:
    """A cancel right behind the opening would leave it unanswered, and somebody else's answer would be dropped."""
    opening, lines, cancelled = line(initialize()), list[bytes](), line(cancel(0))
    handover = Handover(opening, cancelled)
    answers = Answers(handover)

    async def hear(outlet: Outlet) -> None:
        async for told in heard(handover, answers, outlet):
            lines.append(told)

    with Path(os.devnull).open(encoding="utf-8") as nothing:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hear, Outlet(nothing.fileno(), nothing.fileno()))
            await anyio.wait_all_tasks_blocked()
            before = list(lines)
            answers.repeated.set()

    assert (before, lines) == ([opening], [opening, cancelled.rstrip()])


class Unread:
    """The way to a client that does not read."""

    async def send(self, _item: SessionMessage) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None: ...


async def test_a_client_that_reads_no_answers_is_not_listened_to_for_ever() -> None:
    """The SDK keeps a task for every answer that it cannot send."""
    handover = Handover(rest=line(request(1, "ping")) * 2 * MAX_UNREAD)
    answers = Answers(handover)
    answers.stream = Unread()
    item = SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=1, result={}))

    with Path(os.devnull).open(encoding="utf-8") as nothing:
        async with anyio.create_task_group() as tasks:

            async def serve() -> None:
                async for _ in heard(handover, answers, Outlet(nothing.fileno(), nothing.fileno())):
                    tasks.start_soon(answers.send, item)
                    await anyio.lowlevel.checkpoint()

            tasks.start_soon(serve)
            await anyio.wait_all_tasks_blocked()
            unread = answers.unread
            tasks.cancel_scope.cancel()

    assert unread == MAX_UNREAD + 1
