"""Truncate every text and list of an answer. The last step, when no other reduction makes the answer fit.

Pure: an answer in, shorter and shorter answers out. The reductions before it are in `budget` and `discovery`.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from pytest_mcp import text

# For each step, the most characters of a text and the most entries of a list. After the last step any answer fits the
# smallest max_tokens that is allowed.
TRUNCATION_STEPS = ((200, 10), (100, 5), (50, 2), (20, 1))

Answer = TypeVar("Answer", bound=BaseModel)


def truncated(answer: Answer) -> Iterator[Answer]:
    content = answer.model_dump(by_alias=True)
    for characters, entries in TRUNCATION_STEPS:
        yield type(answer).model_validate(_truncated(content, characters, entries))


def first_notices(notices: list[str], number: int) -> list[str]:
    """The first `number` notices, which are the most important, and how many more there are."""
    more = len(notices) - number
    return [*notices[:number], f"{more} more notices did not fit; raise max_tokens."] if more > 0 else notices


def _truncated(value: Any, characters: int, entries: int, key: str = "") -> Any:
    if isinstance(value, str):
        # Escaped first: escapes are longer than the characters they replace.
        shown = text.safe(value[: characters + 1])
        return shown if len(shown) <= characters else f"{shown[: characters - 3]}..."
    if isinstance(value, list):
        kept = [_truncated(each, characters, entries) for each in value[:entries]]
        return first_notices(value, 0) if key == "notices" and len(value) > entries else kept
    if isinstance(value, dict):
        return {name: _truncated(each, characters, entries, name) for name, each in value.items()}
    return value
