"""A failure as the child tells it: the chain of exceptions, each with its text and its frames."""

from typing import Annotated, NamedTuple


class Frame(NamedTuple):
    # Compiled code can have any text for its file, and places are shown in one line.
    path: Annotated[str, lambda path: path.replace("\n", "\\n")]
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
