"""Make text safe to send, and format it for our sentences.

Pure: any text in, safe text out. No character is dropped: those that could move a cursor, hide or reorder words, or
break the protocol are replaced by a visible escape. Callers decide which text may keep its colours.
"""

import re
from collections.abc import Iterable

# How many names a sentence lists; further ones are counted.
SHOWN_NAMES = 3
# A longer name is cut in its middle, in characters.
MAX_NAME = 200
# Control characters except tab and newline; lone surrogates; bidi and zero-width controls; the line and
# paragraph separators; the byte order mark; tag characters. All of them are invisible.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)
_COLOUR = re.compile("(\x1b\\[[0-9;:]*m)")
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def safe(text: str) -> str:
    """Escape every invisible character."""
    return _UNSAFE.sub(_escape, text) if _UNSAFE.search(text) else text


def safe_with_colour(text: str) -> str:
    """Escape as `safe` does, but keep colour sequences."""
    parts = _COLOUR.split(text)
    return "".join(part if index % 2 else safe(part) for index, part in enumerate(parts))


def safe_line(text: str) -> str:
    """Escape newlines and tabs too."""
    return safe(text).translate(_BREAKS)


def is_plain(text: str) -> bool:
    """Whether it is one line of visible characters, without U+FFFD (bytes that were not valid UTF-8)."""
    return safe(text) == text and not any(character in text for character in "\n\t\ufffd")


def cut_middle(text: str, limit: int, *, separator: str = "\n") -> str:
    """About `limit` characters: the beginning, a note of how much is left out, and the end. A note is never longer."""
    half = limit // 2
    left_out = len(text) - 2 * half
    note = separator.join(("", f"[... {left_out} characters left out ...]", ""))
    return text if left_out <= len(note) else f"{text[:half]}{note}{text[len(text) - half :]}"


def in_line(words: str) -> str:
    """Text from outside, for use inside one of our sentences: one line of limited length."""
    return cut_middle(safe_line(words), MAX_NAME, separator=" ")


def label(name: str) -> str:
    """The same for the name of a test or a file; in quotes if it contains a space."""
    line = in_line(name)
    return f"'{line}'" if " " in line else line


def quoted(words: str) -> str:
    """The same, always in quotes."""
    return repr(cut_middle(words, MAX_NAME, separator=" "))


def few(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - SHOWN_NAMES
    return ", ".join(listed[:SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def span(seconds: float) -> str:
    """A duration for people: 0.25 s, 4.2 s, 3 min 20 s."""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
