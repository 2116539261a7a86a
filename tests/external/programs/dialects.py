"""The four ways in which agent programs speak to a model: what a request offers and shows, and what a reply is.

Pure. Only what the programs look at is there. A reply is a list of server-sent events, each with its name if it has
one.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]
Event = tuple[str | None, Body]

LAST_WORDS = "done"


@dataclass(frozen=True)
class Offered:
    """A tool as the model must name it."""

    name: str
    namespace: str = ""

    def is_for(self, server: str, tool: str) -> bool:
        return server in self.namespace + self.name and self.name.endswith(tool)


class Dialect(ABC):
    # How the path of a request to the model ends, before its query.
    path: str

    @abstractmethod
    def offered(self, body: Body) -> list[Offered]: ...

    @abstractmethod
    def shown(self, body: Body) -> list[str]:
        """What the model is shown of each call that was answered so far."""

    @abstractmethod
    def call(self, number: int, tool: Offered, arguments: Body) -> list[Event]: ...

    @abstractmethod
    def end(self, number: int) -> list[Event]: ...

    def search(self, body: Body, query: str) -> list[Event] | None:  # noqa: ARG002  # most need none
        """For tools that are not offered, if the program has a search for such and it was not used yet."""
        return None


class Messages(Dialect):
    """Anthropic's."""

    path = "/messages"

    def offered(self, body: Body) -> list[Offered]:
        return [Offered(tool["name"]) for tool in body.get("tools", [])]

    def shown(self, body: Body) -> list[str]:
        blocks = [block for message in body["messages"] for block in parts(message["content"])]
        return [joined(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def call(self, number: int, tool: Offered, arguments: Body) -> list[Event]:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        return self._message(number, block, delta, "tool_use")

    def end(self, number: int) -> list[Event]:
        return self._message(
            number, {"type": "text", "text": ""}, {"type": "text_delta", "text": LAST_WORDS}, "end_turn"
        )

    @staticmethod
    def _message(number: int, block: Body, delta: Body, stop_reason: str) -> list[Event]:
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "stand-in",
            "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        events: list[Body] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return [(event["type"], event) for event in events]


class Responses(Dialect):
    """OpenAI's newer one."""

    path = "/responses"

    def offered(self, body: Body) -> list[Offered]:
        found = [tool for item in body["input"] if item["type"] == "tool_search_output" for tool in item["tools"]]
        tools = [*body.get("tools", []), *found]
        plain = [Offered(tool["name"]) for tool in tools if tool["type"] == "function"]
        inner = [(space["name"], tool) for space in tools if space["type"] == "namespace" for tool in space["tools"]]
        return plain + [Offered(tool["name"], namespace) for namespace, tool in inner]

    def shown(self, body: Body) -> list[str]:
        return [joined(item["output"]) for item in body["input"] if item["type"] == "function_call_output"]

    def call(self, number: int, tool: Offered, arguments: Body) -> list[Event]:
        item = {"type": "function_call", "call_id": f"call_{number}", "name": tool.name}
        namespace = {"namespace": tool.namespace} if tool.namespace else {}
        return self._response(number, {**item, **namespace, "arguments": json.dumps(arguments)})

    def search(self, body: Body, query: str) -> list[Event] | None:
        can = any(tool["type"] == "tool_search" for tool in body.get("tools", []))
        if not can or any(item["type"] == "tool_search_output" for item in body["input"]):
            return None
        wanted = {"query": query, "limit": 8}
        return self._response(
            0, {"type": "tool_search_call", "call_id": "search", "execution": "client", "arguments": wanted}
        )

    def end(self, number: int) -> list[Event]:
        content = [{"type": "output_text", "text": LAST_WORDS, "annotations": []}]
        return self._response(number, {"type": "message", "role": "assistant", "content": content})

    @staticmethod
    def _response(number: int, item: Body) -> list[Event]:
        item = {**item, "id": f"item_{number}", "status": "completed"}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        response = {"id": f"resp_{number}", "status": "completed", "output": [item], "usage": usage}
        events: list[Body] = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return [(event["type"], event) for event in events]


class Chat(Dialect):
    """OpenAI's older one, which many others speak."""

    path = "/chat/completions"

    def offered(self, body: Body) -> list[Offered]:
        return [Offered(tool["function"]["name"]) for tool in body.get("tools", [])]

    def shown(self, body: Body) -> list[str]:
        return [joined(message["content"]) for message in body["messages"] if message["role"] == "tool"]

    def call(self, number: int, tool: Offered, arguments: Body) -> list[Event]:
        function = {"name": tool.name, "arguments": json.dumps(arguments)}
        asked = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        return self._chunks({"role": "assistant", "tool_calls": [asked]}, "tool_calls")

    def end(self, number: int) -> list[Event]:  # noqa: ARG002  # the others name their replies
        return self._chunks({"role": "assistant", "content": LAST_WORDS}, "stop")

    @staticmethod
    def _chunks(delta: Body, reason: str) -> list[Event]:
        steps: list[Body] = [{"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}]
        return [
            (None, {"id": "chunk", "object": "chat.completion.chunk", "choices": [{"index": 0, **step}]})
            for step in steps
        ]


class Gemini(Dialect):
    """Google's."""

    path = ":streamGenerateContent"

    def offered(self, body: Body) -> list[Offered]:
        groups = [group.get("functionDeclarations", []) for group in body.get("tools", [])]
        return [Offered(tool["name"]) for group in groups for tool in group]

    def shown(self, body: Body) -> list[str]:
        said = [part for content in body["contents"] for part in content["parts"]]
        answers = [part["functionResponse"]["response"] for part in said if "functionResponse" in part]
        return [next(iter(answer.values())) for answer in answers]

    def call(self, number: int, tool: Offered, arguments: Body) -> list[Event]:  # noqa: ARG002  # it needs no names
        return self._candidate({"functionCall": {"name": tool.name, "args": arguments}})

    def end(self, number: int) -> list[Event]:  # noqa: ARG002  # as above
        return self._candidate({"text": LAST_WORDS})

    @staticmethod
    def _candidate(part: Body) -> list[Event]:
        return [(None, {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})]


def parts(content: Any) -> list[Body]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def joined(content: Any) -> str:
    return "\n".join(str(part.get("text", "")) for part in parts(content))
