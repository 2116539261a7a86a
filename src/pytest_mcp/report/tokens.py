"""How many tokens a text costs, estimated without a vocabulary; and whether an answer fits its limits.

Pure. A text is split into pieces as o200k splits it, and each piece is counted by its kind and length. For our answers
the estimate is slightly above the real count; `make tokens` shows by how much. What is removed from an answer that
does not fit is decided in `budget` and `discovery`.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from pytest_mcp.api.requests import Request
from pytest_mcp.report import serialize
from pytest_mcp.text import safe

# A word of letters, a word after a sign, up to three digits, spaces, escapes of JSON, one letter of another script,
# the signs between two values of JSON, or any other signs.
_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<prefixed>[_./(-][A-Za-z]+)|(?P<digits>[0-9]{1,3})"
    r"|(?P<before_digit> (?=[0-9]))|(?P<spaces> {2,})| "
    r'|(?P<escapes>(?:\\[nrt])+)|(?P<letter>[^\x00-\x7f])|(?P<joint>"?(?:[:,]|[\]}]+,?)[\[{]*"|":[\[{]*|"?,[\[{])'
    r"|(?P<signs>(?:(?!\\[nrt])[^A-Za-z0-9 \x80-\U0010ffff])+)"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Words up to this length are mostly one token, and longer ones one token for about as many letters.
_LETTERS_PER_TOKEN = 7
_SIGNS_PER_TOKEN = 2.0
# A longer sequence of letters is not a word, so no vocabulary has it.
_LONGEST_WORD = 24
_LETTERS_PER_TOKEN_OF_NOISE = 2.2
# A sign in front of a word is mostly part of the word's token.
_PREFIX_TOKENS = 0.2
# Letters of alphabets share a token; characters of Chinese, Japanese and Korean rarely do.
_FIRST_IDEOGRAPH = "\u2e80"
_LETTER_TOKENS, _IDEOGRAPH_TOKENS = 0.45, 0.8
# The estimate is too high rather than too low.
_SAFETY_FACTOR = 1.03
# A token has at least one character and rarely more than this many. Between these bounds tokens must be counted.
MOST_CHARACTERS_PER_TOKEN = 12

Fits = Callable[[BaseModel], bool]


def limit(request: Request, ceiling: int) -> Fits:
    """Whether an answer fits `ceiling` in bytes and, unless detail is full, the request's limit in tokens."""
    most = request.max_tokens or request.default_max_tokens

    def fits(answer: BaseModel) -> bool:
        # Serializing shortens no text. So this cheap count rejects most answers that are far too long.
        if _characters(answer) > (
            ceiling if request.detail == "full" else min(ceiling, most * MOST_CHARACTERS_PER_TOKEN)
        ):
            return False
        content = answer.model_dump(mode="json", by_alias=True)
        if len(json.dumps(content)) > ceiling:
            return False
        # Made safe first: escapes are longer than the characters they replace.
        sent = safe(serialize.line(content))
        if request.detail == "full" or len(sent) <= most:
            return True
        return len(sent) <= most * MOST_CHARACTERS_PER_TOKEN and estimate(sent) <= most

    return fits


def ever_larger(most: int) -> list[int]:
    """Ever larger numbers up to the last one, few enough to try each."""
    numbers: list[int] = []
    while not numbers or numbers[-1] < most:
        numbers.append(min(most, (numbers[-1] * 5 + 3) // 4 + 1 if numbers else 1))
    return numbers if most else []


def estimate(text: str) -> int:
    total = 0.0
    for found in _PIECE.finditer(text):
        piece = found.group()
        match found.lastgroup:
            case "word":
                total += _of_word(piece)
            case "prefixed":
                total += _of_word(piece[1:]) + _PREFIX_TOKENS
            case "signs":
                total += max(1.0, (len(piece) + 1) / _SIGNS_PER_TOKEN)
            case "letter":
                total += _IDEOGRAPH_TOKENS if piece >= _FIRST_IDEOGRAPH else _LETTER_TOKENS
            case None:
                pass  # a single space is part of the next word's token
            case _:
                total += 1
    return round(total * _SAFETY_FACTOR) + 1


def _of_word(word: str) -> float:
    if len(word) > _LONGEST_WORD:
        return len(word) / _LETTERS_PER_TOKEN_OF_NOISE
    humps = 1 if word.islower() else len(_HUMP.findall(word))
    return max(humps, 1.0 if len(word) <= _LETTERS_PER_TOKEN else (len(word) + 6) / (_LETTERS_PER_TOKEN + 0.5))


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
