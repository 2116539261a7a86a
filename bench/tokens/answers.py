"""Ask the real server over real stdio: in comes a question, out comes the part of the answer that a model reads."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.servers import MAX_CALL, Server
from bench.shell import Wrong
from tests.support.protocol.raw_client import Message


@dataclass(frozen=True)
class Question:
    """`read` takes the counted part from the whole message."""

    method: str
    params: Message
    read: Callable[[Message], Any] = field(repr=False)


def call(tool: str, *, read: Callable[[Message], Any] | None = None, **arguments: Any) -> Question:
    return Question("tools/call", {"name": tool, "arguments": arguments}, read or structured)


def structured(message: Message) -> Any:
    """Clients show a model either the text or the structured content, so both must be the same."""
    if "result" not in message:
        raise Wrong(f"an error instead of a result: {json.dumps(message)[:500]}")
    answer = message["result"]["structuredContent"]
    (block,) = message["result"]["content"]
    if block["text"] != compact(answer):
        raise Wrong("the text is not the structured content, compact")
    return answer


def error(message: Message) -> Any:
    if "error" not in message:
        raise Wrong(f"a result instead of an error: {json.dumps(message)[:500]}")
    return message["error"]


def words_of_tools(message: Message) -> Any:
    """Without output schemas and hints, which are for clients only."""
    return [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in message["result"]["tools"]]


def ask(question: Question, python: Path, project: Path) -> Any:
    with Server.ours(python, project) as server:
        server.handshake()
        return question.read(server.reply(server.request(question.method, question.params), limit=MAX_CALL))


def compact(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
