"""How many tokens a text costs, estimated without a vocabulary.

A text is split into pieces as o200k splits it, and each piece is counted by its kind and length. For our answers the
estimate is slightly above the real count; `make tokens` shows by how much.
"""

import re

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
_MAX_WORD = 24
_LETTERS_PER_TOKEN_OF_NOISE = 2.2
# A sign in front of a word is mostly part of the word's token.
_PREFIX_TOKENS = 0.2
# Letters of alphabets share a token; characters of Chinese, Japanese and Korean rarely do.
_FIRST_IDEOGRAPH = "\u2e80"
_LETTER_TOKENS, _IDEOGRAPH_TOKENS = 0.45, 0.8
# The estimate is too high rather than too low.
_SAFETY_FACTOR = 1.03


def estimate(text: str) -> int:
    total = 0.0
    for part in _PIECE.finditer(text):
        piece = part.group()
        match part.lastgroup:
            case "word":
                total += _word_tokens(piece)
            case "prefixed":
                total += _word_tokens(piece[1:]) + _PREFIX_TOKENS
            case "signs":
                total += max(1.0, (len(piece) + 1) / _SIGNS_PER_TOKEN)
            case "letter":
                total += _IDEOGRAPH_TOKENS if piece >= _FIRST_IDEOGRAPH else _LETTER_TOKENS
            case None:
                pass  # a single space is part of the next word's token
            case _:
                total += 1
    return round(total * _SAFETY_FACTOR) + 1


def _word_tokens(word: str) -> float:
    if len(word) > _MAX_WORD:
        return len(word) / _LETTERS_PER_TOKEN_OF_NOISE
    humps = 1 if word.islower() else len(_HUMP.findall(word))
    return max(humps, 1.0 if len(word) <= _LETTERS_PER_TOKEN else (len(word) + 6) / (_LETTERS_PER_TOKEN + 0.5))
