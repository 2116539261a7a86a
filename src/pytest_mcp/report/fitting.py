"""Whether an answer fits its limits, and what is left of any answer when it does not.

`budget` and `discovery` try answers from the largest to the smallest. Beyond those, notices go, from the last to the
first, then the ends of all texts and lists.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from pytest_mcp import text
from pytest_mcp.api.requests import Request
from pytest_mcp.api.results import DiscoverResult, ExecuteResult
from pytest_mcp.report import serialize, tokens

# A token of ASCII has at least one character, and rarely more than this many. Between these bounds tokens are counted.
MAX_CHARACTERS_PER_TOKEN = 12
# For each step, the most characters of a text and the most entries of a list. After the last step any answer fits the
# smallest max_tokens that is allowed.
TRUNCATION_STEPS = ((200, 10), (100, 5), (50, 2), (20, 1))

Fits = Callable[[BaseModel], bool]
Answer = TypeVar("Answer", ExecuteResult, DiscoverResult)


def limit(request: Request, ceiling: int) -> Fits:
    """Whether an answer fits `ceiling` in bytes and, unless detail is full, the request's limit in tokens."""
    most = request.max_tokens or request.default_max_tokens
    is_full = request.detail == "full"
    most_characters = ceiling if is_full else min(ceiling, most * MAX_CHARACTERS_PER_TOKEN)

    def fits(answer: BaseModel) -> bool:
        # Serializing shortens no text. So this cheap count rejects most answers that are far too long.
        if _characters(answer) > most_characters:
            return False
        content = answer.model_dump(mode="json", by_alias=True)
        if len(json.dumps(content)) > ceiling:
            return False
        # Made safe first: escapes are longer than the characters they replace.
        sent = text.safe(serialize.line(content))
        if is_full or (len(sent) <= most and sent.isascii()):
            return True
        return len(sent) <= most * MAX_CHARACTERS_PER_TOKEN and tokens.estimate(sent) <= most

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


def ever_larger(most: int) -> list[int]:
    """Ever larger numbers up to the last one, few enough to try each."""
    numbers: list[int] = []
    while not numbers or numbers[-1] < most:
        numbers.append(min(most, (numbers[-1] * 5 + 3) // 4 + 1 if numbers else 1))
    return numbers if most else []


def largest(most: int, made: Callable[[int], Answer], fits: Fits) -> Answer:
    """What is made of the largest number up to `most` that fits; zero does."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if fits(made(middle)):
            least = middle
        else:
            most = middle - 1
    return made(least)


def smallest(answer: Answer, fits: Fits) -> Answer:
    """With as many notices as fit, or with the ends of all texts and lists cut off."""
    for number in range(len(answer.notices) - 1, -1, -1):
        fewer = answer.model_copy(update={"notices": _first_notices(answer.notices, number)})
        if fits(fewer):
            return fewer
    content = answer.model_dump(by_alias=True)
    for characters, entries in TRUNCATION_STEPS:
        answer = type(answer).model_validate(cut(content, characters, entries))
        if fits(answer):
            break
    return answer


def cut(value: Any, characters: int, entries: int, key: str = "") -> Any:
    if isinstance(value, str):
        # Escaped first: escapes are longer than the characters they replace.
        shown = text.safe(value[: characters + 1])
        return shown if len(shown) <= characters else f"{shown[: characters - 3]}..."
    if isinstance(value, list):
        kept = [cut(each, characters, entries) for each in value[:entries]]
        return _first_notices(value, 0) if key == "notices" and len(value) > entries else kept
    if key == "rerun" and len(json.dumps(value)) > characters * entries // 4:
        # A part of it would not run all failures.
        return None
    if isinstance(value, dict):
        return {name: cut(each, characters, entries, name) for name, each in value.items()}
    return value


def _first_notices(notices: list[str], number: int) -> list[str]:
    """The first `number` notices, which are the most important, and how many more there are."""
    more = len(notices) - number
    return [*notices[:number], f"{more} more notices did not fit; raise max_tokens."] if more > 0 else notices
