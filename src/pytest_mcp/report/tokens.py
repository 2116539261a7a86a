"""How many tokens a text costs, near enough, without a vocabulary to download.

Pure. The pieces are cut as o200k cuts them, and each is counted by its kind and length. On answers of ours
the estimate lies a little above the real count; `make tokens` shows by how much.
"""

import re

# A word of letters, one behind a sign, up to three digits, spaces, escapes of JSON, one letter of another script,
# the signs between two values of JSON, or any other signs.
_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<led>[_./(-][A-Za-z]+)|(?P<digits>[0-9]{1,3})"
    r"|(?P<before_digit> (?=[0-9]))|(?P<spaces> {2,})| "
    r'|(?P<escapes>(?:\\[nrt])+)|(?P<letter>[^\x00-\x7f])|(?P<joint>"?(?:[:,]|[\]}]+,?)[\[{]*"|":[\[{]*|"?,[\[{])'
    r"|(?P<signs>(?:(?!\\[nrt])[^A-Za-z0-9 \x80-\U0010ffff])+)"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Words up to this length mostly are one token, and longer ones one for about as many letters.
_LETTERS = 7
_SIGNS = 2.0
# Beyond this it is no word, and nothing that a vocabulary would know.
_LONGEST_WORD = 24
_LETTERS_OF_NOISE = 2.2
# A sign in front of a word mostly is part of its token.
_LEAD = 0.2
# Letters of alphabets share a token; characters of Chinese, Japanese and Korean hardly do.
_FIRST_IDEOGRAPH = "\u2e80"
_LETTER, _IDEOGRAPH = 0.45, 0.8
# Rather too much than too little.
_MARGIN = 1.03


def estimate(text: str) -> int:
    total = 0.0
    for piece in _PIECE.finditer(text):
        said = piece.group()
        match piece.lastgroup:
            case "word":
                total += _of_word(said)
            case "led":
                total += _of_word(said[1:]) + _LEAD
            case "signs":
                total += max(1.0, (len(said) + 1) / _SIGNS)
            case "letter":
                total += _IDEOGRAPH if said >= _FIRST_IDEOGRAPH else _LETTER
            case None:
                pass  # a single space belongs to the word behind it
            case _:
                total += 1
    return round(total * _MARGIN) + 1


def _of_word(word: str) -> float:
    if len(word) > _LONGEST_WORD:
        return len(word) / _LETTERS_OF_NOISE
    humps = 1 if word.islower() else len(_HUMP.findall(word))
    return max(humps, 1.0 if len(word) <= _LETTERS else (len(word) + 6) / (_LETTERS + 0.5))
