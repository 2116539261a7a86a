"""What to do next, as a value: agents read one wording of it, people who typed a command another.

A `Sentence` is a string, the one for agents, that keeps the advice it contains. `cli/typed_advice.py` words
it for people. So no code has to take a sentence apart. Text that was cut or put into another string is plain text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any, Literal

META = "pytest-mcp/next_step"

AdviceKind = Literal[
    "shell",  # a line for a shell, typed in the project's root
    "python",  # the Python, its path as the value, with which the operator is to start the server
    "operator",  # something else that only the operator can change
    "folders",  # folders, the values, to be named in the call
    "root",  # the project is another folder
    "parameter",  # the name of a parameter of the tool
    "tool",  # the name of a tool
    "typed",  # what people read instead is the value
]


@dataclass(frozen=True)
class Advice:
    kind: AdviceKind
    # What agents read.
    text: str
    values: tuple[str, ...] = ()


class Sentence(str):
    """The words for agents, with the advice in them."""

    __slots__ = ("parts",)
    parts: tuple[str | Advice, ...]

    def __new__(cls, *parts: str | Advice) -> "Sentence":
        flat = tuple(_flat(parts))
        made = super().__new__(cls, "".join(part.text if isinstance(part, Advice) else part for part in flat))
        made.parts = flat
        return made

    def values(self, *kinds: AdviceKind) -> list[str]:
        """Those of its advice of these kinds."""
        return [value for part in self.advice(*kinds) for value in part.values]

    def advice(self, *kinds: AdviceKind) -> list[Advice]:
        return [part for part in self.parts if isinstance(part, Advice) and part.kind in kinds]


def in_shell(line: str) -> Sentence:
    return Sentence(Advice("shell", line))


def by_operator(text: str) -> Sentence:
    return Sentence(Advice("operator", text))


def meta(next_step: str | None) -> dict[str, Any]:
    """What a client gets beside an answer if it words the next step itself, as `doctor` does."""
    parts = next_step.parts if isinstance(next_step, Sentence) else ()
    return {META: [part if isinstance(part, str) else astuple(part) for part in parts]} if parts else {}


def from_meta(given: Mapping[str, Any] | None) -> Sentence:
    """The next step, empty if none is given."""
    parts = (given or {}).get(META, ())
    return Sentence(*(part if isinstance(part, str) else Advice(part[0], part[1], tuple(part[2])) for part in parts))


def _flat(parts: Iterable[str | Advice]) -> Iterator[str | Advice]:
    for part in parts:
        yield from part.parts if isinstance(part, Sentence) else (part,)
