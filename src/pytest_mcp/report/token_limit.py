"""Whether an answer is small enough: in tokens, unless everything was asked for, and always in bytes. Pure."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from pytest_mcp import text
from pytest_mcp.api.requests import Request
from pytest_mcp.report import tokens

# A token is one character at least and seldom more than a dozen; between the two it must be counted.
LONGEST_TOKEN = 12

Fits = Callable[[BaseModel], bool]


def limit(request: Request, ceiling: int) -> Fits:
    most = request.max_tokens or request.default_max_tokens

    def fits(answer: BaseModel) -> bool:
        # No text becomes shorter on its way out, and most answers that are far too long can be told by that.
        if _characters(answer) > (ceiling if request.detail == "full" else min(ceiling, most * LONGEST_TOKEN)):
            return False
        content = answer.model_dump(mode="json", by_alias=True)
        if len(json.dumps(content)) > ceiling:
            return False
        # As it will be sent: what cannot be seen becomes longer on its way out.
        said = text.safe(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
        if request.detail == "full" or len(said) <= most:
            return True
        return len(said) <= most * LONGEST_TOKEN and tokens.estimate(said) <= most

    return fits


def _characters(answer: BaseModel) -> int:
    total, todo = 0, list[Any]([answer])
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            total += len(each)
        elif isinstance(each, BaseModel):
            todo += vars(each).values()
        elif isinstance(each, list):
            todo += each
        elif isinstance(each, dict):
            todo += each.values()
    return total
