"""How many tokens a text costs, estimated without a vocabulary.

A text is split into pieces as o200k splits it, and each piece is counted by its kind and length. For our answers the
estimate is slightly above the real count; `make tokens` shows by how much.
"""

import re
from functools import lru_cache

# A word of letters, a word after a sign, up to three digits, spaces, escapes of JSON, characters beyond ASCII, the
# signs between two values of JSON, or any other signs.
_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<prefixed>[_./(-][A-Za-z]+)|(?P<digits>[0-9]{1,3})"
    r"|(?P<before_digit> (?=[0-9]))|(?P<spaces> {2,})| "
    r'|(?P<escapes>(?:\\[nrt])+)|(?P<others>[^\x00-\x7f]+)|(?P<joint>"?(?:[:,]|[\]}]+,?)[\[{]*"|":[\[{]*|"?,[\[{])'
    r"|(?P<signs>(?:(?!\\[nrt])[^A-Za-z0-9 \x80-\U0010ffff])+)"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Words up to this length are mostly one token, and longer ones one token for about as many letters.
_LETTERS_PER_TOKEN = 7
_SIGNS_PER_TOKEN = 2.0
# Parts of words (`getUser` has two) that are longer or, at the mean, shorter than this are of no word: hashes, base64.
_MAX_PART, _LEAST_MEAN = 24, 3
_LONG_NOISE_TOKENS, _SHORT_NOISE_TOKENS = 0.58, 0.8
# A sign in front of a word is mostly part of the word's token.
_PREFIX_TOKENS = 0.2
# Rulers and borders: sixteen equal signs are one more token.
_REPEATED = re.compile(r"([!-/:-@\[-`{-~─━═])\1{3,}")
# The tokens of a character below each of these. Letters of alphabets share a token, unless they are no words.
_TOKENS_BELOW = (
    *((0xC0, 1.0), (0x0E80, 0.45), (0x1E00, 2.0), (0x2000, 0.45), (0x2800, 2.3), (0x2900, 3.0)),
    *((0x3040, 2.3), (0x3100, 0.8), (0x3400, 2.3), (0x4E00, 3.0), (0x10000, 2.6), (0x1F000, 4.0), (0x1FB00, 2.4)),
)
_TOKENS_BEYOND = 4.0
_LATIN, _LATIN_NOISE_TOKENS = "\u0250", 1.3
# Of what GB 2312 and KS X 1001 have: ideographs and syllables that are used often, and signs.
_COMMON_TOKENS, _SIGN_TOKENS, _FIRST_IDEOGRAPH = 0.95, 1.2, 0x3100
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
                total += max(1.0, (len(_without_repeats(piece)) + 1) / _SIGNS_PER_TOKEN)
            case "others":
                total += _tokens_of_others(_without_repeats(piece))
            case None:
                pass  # a single space is part of the next word's token
            case _:
                total += 1
    return round(total * _SAFETY_FACTOR) + 1


def _word_tokens(word: str) -> float:
    parts = 1 if word.islower() else len(_HUMP.findall(word))
    mean = len(word) / parts
    if mean > _MAX_PART:
        return len(word) * _LONG_NOISE_TOKENS
    if parts > 1 and mean < _LEAST_MEAN:
        return len(word) * _SHORT_NOISE_TOKENS
    return max(parts, 1.0 if len(word) <= _LETTERS_PER_TOKEN else (len(word) + 6) / (_LETTERS_PER_TOKEN + 0.5))


def _without_repeats(signs: str) -> str:
    return _REPEATED.sub(lambda run: run.group()[: 2 + len(run.group()) // 8], signs) if len(signs) > 3 else signs


def _tokens_of_others(characters: str) -> float:
    if len(characters) > 2 and max(characters) < _LATIN:
        return len(characters) * _LATIN_NOISE_TOKENS
    return sum(map(_character_tokens, characters))


@lru_cache(10_000)
def _character_tokens(character: str) -> float:
    code = ord(character)
    tokens = next((tokens for end, tokens in _TOKENS_BELOW if code < end), _TOKENS_BEYOND)
    is_common = character.encode("gb2312", "ignore") or len(character.encode("euc_kr", "ignore")) == 2
    return min(tokens, _COMMON_TOKENS if code >= _FIRST_IDEOGRAPH else _SIGN_TOKENS) if is_common else tokens
