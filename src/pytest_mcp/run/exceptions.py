"""A failure as the child tells it: the chain of exceptions, each with its text and its frames.

A test could have forged the nested lists of a record, so every value in them is checked: a ValueError refuses it.
"""

from typing import Any, NamedTuple

# No child tells more exceptions of a failure, or more frames of one: it leaves out the middle.
MAX_ENTRIES = 1000


class Frame(NamedTuple):
    path: str
    line: int
    # None for code of a module, a lambda or a comprehension.
    function: str | None
    # None where the source is not known.
    statement: str | None
    arguments: tuple[tuple[str, str], ...]
    # One line for each local variable; empty unless they were asked for.
    variables: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Raised(NamedTuple):
    """One exception of a chain, from the first raised to the last."""

    # How the next one came about: "cause" (raise ... from) or "context" (while this one was handled); or the next one
    # is in this "group", or another "member" of the group that this one is in.
    link: str | None
    note: str | None
    text: tuple[str, ...]
    frames: tuple[Frame, ...]

    @property
    def headline(self) -> str:
        return self.text[0] if self.text else ""


Chain = tuple[Raised, ...]


def parse_chain(value: Any) -> Chain:
    return tuple(_raised(*_list(entry, 4)) for entry in _few(value))


def _raised(link: Any, note: Any, text: Any, frames: Any) -> Raised:
    return Raised(
        _optional(link), _optional(note), _texts(text), tuple(_frame(_list(each, 6)) for each in _few(frames))
    )


def _frame(values: list[Any]) -> Frame:
    path, line, function, statement, arguments, variables = values
    if type(line) is not int or not 0 <= line < 10**9:
        raise ValueError("not a line number")
    pairs = tuple((_text(name), _text(shown)) for name, shown in (_list(pair, 2) for pair in _list(arguments)))
    # Compiled code can have any text for its file, and places are shown in one line.
    file = _text(path).replace("\n", "\\n")
    return Frame(file, line, _optional(function), _optional(statement), pairs, _texts(variables))


def _list(value: Any, length: int | None = None) -> list[Any]:
    if type(value) is not list or length not in (None, len(value)):
        raise ValueError("not a list of this length")
    return value


def _few(value: Any) -> list[Any]:
    if len(_list(value)) > MAX_ENTRIES:
        raise ValueError("too many of them")
    return _list(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("not a text")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))
