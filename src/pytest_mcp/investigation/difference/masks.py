"""Which values are never shown: by the name of an argument, a key or a field, and by a name in front of them in a text.

A secret under a name that says nothing is shown; `--no-values` shows none.
"""

import re

_PARTS = (
    "passw|passphrase|secret|(?:api|aws|access|private)[_-]?key|credential"
    "|(?:access|auth|refresh|bearer|session)[_-]?token"
)
_WHOLE = "authorization|(?:set-)?cookie|session_?id|pwd"
_NAME = re.compile(rf"{_PARTS}|^(?:{_WHOLE})$", re.IGNORECASE)
# A name that parsers have as well: such a secret is long.
_TOKEN = re.compile(r"(?:^|[_-])token$", re.IGNORECASE)
LEAST_TOKEN = 16
_WORD = re.compile(r"[\w.-]{1,60}")
_EQUALS = r"""\\?["']?[ \t]{0,20}(?::=?|=>?|%3D)[ \t]{0,20}"""
# To the same quote, which may be escaped, or to the end of the word.
_QUOTED = r"""[bruf]{0,2}\\?(?:"[^"\r\n]*"?|'[^'\r\n]*'?)"""
_VALUE = rf"""(?:{_QUOTED}|[^\s"',;&)}}\]]+)"""
# In a text. What stands before `pass` in a name does not matter, and a bound on the rest keeps long words cheap.
_IN_TEXT = re.compile(
    rf"""(?P<header>\b(?:authorization|(?:set-)?cookie)\\?["']?\s?:\s?)(?:{_QUOTED}|[^\r\n"']+(?:{_QUOTED})?)"""
    rf"""|(?P<option>--[\w-]{{0,40}}(?:{_PARTS})[\w-]{{0,40}}\s+){_VALUE}"""
    rf"""|(?P<named>(?:(?:{_PARTS})[\w-]{{0,40}}|\b(?:{_WHOLE})){_EQUALS})(?!(?:None|True|False)\b){_VALUE}"""
    rf"""|(?P<token>(?:\b|_)token{_EQUALS}["']?)[^\s"',;&)}}\]]{{{LEAST_TOKEN},}}"""
    r"|(?P<scheme>\b(?:bearer|basic) )[\w.~+/=-]{8,}"
    # A password may have `/` and `@` in it: to the last `@`.
    r"""|(?P<address>://[^/\s:@]*:)[^\s"'<>]{1,200}(?=@)""",
    re.IGNORECASE,
)


def is_secret(name: str, text: str | None) -> bool:
    """Whether such a name has a secret; `text` is its value, if it is one. Of `Settings.pwd` the last part counts."""
    own = name.rpartition(".")[2]
    return _NAME.search(own) is not None or (
        _TOKEN.search(own) is not None and text is not None and len(text) >= LEAST_TOKEN
    )


def is_name(text: str, *, is_option: bool) -> bool:
    """Whether it can name what stands behind it, as options do in a list of arguments, and keys in a pair."""
    return _WORD.fullmatch(text) is not None and (text.startswith("-") or not is_option)


def hidden(text: str) -> str:
    """With `***` in place of each secret that has its name in front of it."""
    return _IN_TEXT.sub(lambda match: f"{match[match.lastgroup or 0]}***", text)
