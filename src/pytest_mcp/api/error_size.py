"""An error answer that fits the operator's ceiling.

In comes the error object of a reply, in values of JSON, and the ceiling in bytes. Out goes the same object, with its
texts and lists shortened step by step where it was too large; its code and the keys of its data stay. Pure. How much
an error says by default is decided in `errors`.
"""

import json
from typing import Any

from pytest_mcp import text

# For what stands around the error object in a reply, apart from the caller's own id.
ENVELOPE_BYTES = 1024
# How many characters of a text and how many entries of a list or object are left, step by step.
STEPS = ((20_000, 500), (2_000, 50), (500, 10), (100, 2))
# What is left of the message when it has to be cut as well: enough to act on.
LEAST_MESSAGE = 2_000


def fitted(reply: dict[str, Any], ceiling: int) -> dict[str, Any]:
    most = ceiling - ENVELOPE_BYTES
    if _size(reply) <= most:
        return reply
    note = f"Parts of data were left out to fit the limit of {ceiling} bytes."
    reply = {**reply, "message": f"{text.cut_middle(reply['message'], LEAST_MESSAGE)}\n{note}"}
    for characters, entries in STEPS:
        reply["data"] = _cut(reply["data"], characters, entries, is_data=True)
        if _size(reply) <= most:
            break
    else:
        # Objects inside of objects can still be too many.
        reply["data"] = {name: None if isinstance(value, dict) else value for name, value in reply["data"].items()}
    return reply


def _size(reply: dict[str, Any]) -> int:
    """At most so many bytes: as JSON, in JSON once more where an error is sent as the text of a result."""
    return len(json.dumps(json.dumps(reply, ensure_ascii=False)))


def _cut(value: Any, characters: int, entries: int, *, is_data: bool = False) -> Any:
    if isinstance(value, str):
        return text.cut_middle(value, characters)
    if isinstance(value, list):
        return _cut_list([_cut(entry, characters, entries) for entry in value[:entries]], len(value))
    if isinstance(value, dict):
        kept = list(value.items()) if is_data else list(value.items())[:entries]
        return {text.cut_middle(name, characters): _cut(entry, characters, entries) for name, entry in kept}
    return value


def _cut_list(kept: list[Any], before: int) -> list[Any]:
    """Of texts, the last entry says how many more there were; objects of another shape would break a reader."""
    more = before - len(kept)
    are_texts = all(isinstance(entry, str) for entry in kept)
    return [*kept, f"[... {more} entries left out ...]"] if more and are_texts else kept
