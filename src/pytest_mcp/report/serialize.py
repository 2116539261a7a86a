"""An answer as it is sent, to a client or to a script: every string made safe, all of it one line of JSON. Pure."""

import json
from typing import Any

from pytest_mcp import text
from pytest_mcp.api import error_size
from pytest_mcp.api.errors import CallError
from pytest_mcp.config.model import MAX_REPLY_BYTES


def of_error(error: CallError, ceiling: int = MAX_REPLY_BYTES) -> dict[str, Any]:
    return error_size.fitted(safe({"code": error.code, "message": error.message, "data": error.data}), ceiling)


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
