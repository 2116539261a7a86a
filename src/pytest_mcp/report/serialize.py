"""An answer as it is sent, to a client or to a script: every string made safe, all of it one line of JSON.

An error fits the operator's ceiling: its texts and lists are shortened step by step, its code and the keys of its data
stay. How much of them is sent is decided in `error_data`.
"""

import json
from typing import Any

from pytest_mcp import text
from pytest_mcp.api.errors import CallError
from pytest_mcp.config.model import MAX_REPLY_BYTES

# For what stands around the error object in a reply, apart from the caller's own id.
ENVELOPE_BYTES = 1024
# How many characters of a text and how many entries of a list or object are left, step by step.
STEPS = ((20_000, 500), (2_000, 50), (500, 10), (100, 2))
# What is left of the message when it has to be cut as well: enough to act on.
LEAST_MESSAGE = 2_000


def of_error(error: CallError, ceiling: int = MAX_REPLY_BYTES, data: dict[str, Any] | None = None) -> dict[str, Any]:
    """With these data, else with all that the error has."""
    sent = error.data if data is None else data
    return _fitted(safe({"code": error.code, "message": error.message, "data": sent}), ceiling)


def safe(value: Any, *, colour: bool = False, key: str | None = None) -> Any:
    """The answer with every string made safe. With `colour`, text_output keeps its colour sequences."""
    if isinstance(value, str):
        return text.safe_with_colour(value) if colour and key == "text_output" else text.safe(value)
    if isinstance(value, dict):
        return {text.safe(str(name)): safe(entry, colour=colour, key=name) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe(entry, colour=colour) for entry in value]
    return value if isinstance(value, (int, float, bool, type(None))) else text.safe(str(value))


def line(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _fitted(reply: dict[str, Any], ceiling: int) -> dict[str, Any]:
    most = ceiling - ENVELOPE_BYTES
    if _size(reply) <= most:
        return reply
    note = f"Parts of data were left out to fit the limit of {ceiling} bytes."
    reply = {**reply, "message": f"{text.cut_middle(reply['message'], LEAST_MESSAGE)}\n{note}"}
    for characters, entries in STEPS:
        reply["data"] = {name: _cut(value, characters, entries) for name, value in reply["data"].items()}
        if _size(reply) <= most:
            return reply
    # Objects inside of objects can still be too many.
    reply["data"] = {name: None if isinstance(value, dict) else value for name, value in reply["data"].items()}
    return reply


def _size(reply: dict[str, Any]) -> int:
    """At most so many bytes: as JSON, in JSON once more where an error is sent as the text of a result."""
    return len(json.dumps(json.dumps(reply, ensure_ascii=False)))


def _cut(value: Any, characters: int, entries: int) -> Any:
    """Of texts, the last entry says how many more there were; objects of another shape would break a reader."""
    if isinstance(value, str):
        return text.cut_middle(value, characters)
    if isinstance(value, dict):
        kept = list(value.items())[:entries]
        return {text.cut_middle(name, characters): _cut(entry, characters, entries) for name, entry in kept}
    if not isinstance(value, list):
        return value
    some = [_cut(entry, characters, entries) for entry in value[:entries]]
    more = len(value) - len(some)
    return (
        [*some, f"[... {more} entries left out ...]"] if more and all(isinstance(each, str) for each in some) else some
    )
