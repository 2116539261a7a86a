"""The least that is left of an answer when nothing else makes it fit: short texts and short lists.

Pure: an answer in, ever less of it out. What else can go, and goes before, is decided in `budget` and `discovery`.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from pytest_mcp import text

# How many characters of a text and how many entries of a list are left, step by step. The last step of any answer fits
# the smallest budget that can be asked for.
STEPS = ((200, 10), (100, 5), (50, 2), (20, 1))

Answer = TypeVar("Answer", bound=BaseModel)


def ever_less(answer: Answer) -> Iterator[Answer]:
    content = answer.model_dump(by_alias=True)
    for characters, entries in STEPS:
        yield type(answer).model_validate(_less(content, characters, entries))


def with_notices(notices: list[str], number: int) -> list[str]:
    """The first so many, which matter most, and how many more there are."""
    more = len(notices) - number
    return [*notices[:number], f"{more} more notices did not fit; raise max_tokens."] if more > 0 else notices


def _less(value: Any, characters: int, entries: int, key: str = "") -> Any:
    if isinstance(value, str):
        # Escaped first: what nobody can see becomes longer on its way out.
        shown = text.safe(value[: characters + 1])
        return shown if len(shown) <= characters else f"{shown[: characters - 3]}..."
    if isinstance(value, list):
        kept = [_less(each, characters, entries) for each in value[:entries]]
        return with_notices(value, 0) if key == "notices" and len(value) > entries else kept
    if isinstance(value, dict):
        return {name: _less(each, characters, entries, name) for name, each in value.items()}
    return value
