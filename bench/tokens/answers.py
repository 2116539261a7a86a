"""What the real server answers over real stdio: a question in, and out what of its answer a model reads."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.servers import LONGEST_CALL, Server
from bench.shell import Wrong
from tests.support.raw_client import Message


@dataclass(frozen=True)
class Question:
    """`read` takes from the whole message what is counted."""

    method: str
    params: Message
    read: Callable[[Message], Any] = field(repr=False)


def call(tool: str, *, read: Callable[[Message], Any] | None = None, **arguments: Any) -> Question:
    return Question("tools/call", {"name": tool, "arguments": arguments}, read or structured)


def structured(message: Message) -> Any:
    """Clients show a model one or the other, so both must say the same."""
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
    """Output schemas and hints are for clients; models are shown the rest."""
    return [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in message["result"]["tools"]]


def ask(question: Question, python: Path, project: Path) -> Any:
    with Server.ours(python, project) as server:
        server.handshake()
        return question.read(server.reply(server.request(question.method, question.params), limit=LONGEST_CALL))


def compact(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
