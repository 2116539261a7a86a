"""What the child reports: one class for each kind of event. Those of a collection are in `collection`.

Pure. How a line becomes one of them is decided in `decode`, what they add up to in `ledger`.
"""

import re
from dataclasses import Field, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from pytest_mcp.run.exceptions import Chain, parse_chain

Made = TypeVar("Made")
# The way up from a root, however deep a path can be, and one plain name.
_ABOVE = re.compile(r"(?:\.\./){1,2048}[a-z._-]{1,40}")


class Event:
    """Equal to another one of its class with equal values."""

    kind: ClassVar[str]
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and type(self) is type(other) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        named = zip(self.__dataclass_fields__, self._values, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in named)})"

    @property
    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass_transform(frozen_default=True)
def event(kind: type[Made]) -> type[Made]:
    """A frozen dataclass, as the type checker sees it, with the methods of Event.

    Generating six methods for each of fifty classes would take 40 ms at every start; this generates one.
    """
    return dataclass(repr=False, eq=False)(kind)


@event
class Hello(Event):
    """The interpreter has started; `pytest` is its version, or None with the reason in `error`."""

    kind = "hello"
    python: str
    executable: str
    pytest: str | None
    error: str | None


@event
class AboveRoot(Event):
    """What pytest would have used if its search did not end at the root: paths as seen from there."""

    kind = "above_root"
    settings: list[str]
    conftests: list[str]

    def __post_init__(self) -> None:
        """These go into a sentence of ours, so only the way up and a name that pytest looks for are accepted."""
        if not all(_ABOVE.fullmatch(path) for path in (*self.settings, *self.conftests)):
            raise ValueError("not above the root")


@event
class Configured(Event):
    kind = "configured"
    inifile: str | None
    from_cache: list[str]


@event
class Portrait(Event):
    """What pytest runs with, only where that was asked for."""

    kind = "portrait"
    prefix: str
    rootdir: str
    inifile: str | None
    plugins: list[str]
    testpaths: list[str]
    addopts: list[str]
    python_files: list[str]
    markers: list[str]


@event
class UsageFault(Event):
    """pytest's own UsageError, and the file that configures it, if there is one."""

    kind = "usage_error"
    messages: list[str]
    configuration: str | None


@event
class Escaped(Event):
    """An exception that left pytest altogether."""

    kind = "escaped"
    error_type: str
    message: str
    traceback: str


@event
class SessionStarted(Event):
    kind = "session_started"


@event
class Started(Event):
    kind = "started"
    id: str


@event
class StartedAt(Started):
    """With xdist: the test's place in the collection. Its workers run tests in another order."""

    kind = "started_at"
    index: int


@event
class Phase(Event):
    """Setup, call or teardown of a test that was not a plain pass, or any of them with detail full."""

    kind = "phase"
    id: str
    when: str
    outcome: str
    xfail: str | None
    message: str | None
    location: list[Any] | None
    # pytest's own rendering; None where the chain says it all.
    traceback: str | None
    chain: list[Any] | None
    sections: list[list[str]]
    subtest: str | None
    stage: dict[str, Any] | None

    def __post_init__(self) -> None:
        """A section is a title and its text; a location is a path and a line."""
        pairs = [*self.sections, *([] if self.location is None else [self.location])]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("not a pair")
        _ = self.exceptions

    @property
    def exceptions(self) -> Chain:
        """The chain of exceptions; empty where pytest has only text."""
        return () if self.chain is None else parse_chain(self.chain)


@event
class Finished(Event):
    """A test is over. `passed` is false where it failed, was skipped, or was never called (--setup-plan)."""

    kind = "finished"
    id: str
    duration: float
    passed: bool


@event
class Warned(Event):
    kind = "warning"
    message: str
    category: str
    when: str
    filename: str
    lineno: int
    id: str | None


@event
class ImportedElsewhere(Event):
    """A package or module that the project has, and that was imported from another place than its own."""

    kind = "imported_elsewhere"
    name: str
    file: str
    own: str


@event
class Seeded(Event):
    """The seed that pytest-randomly orders tests by, and seeds random numbers with."""

    kind = "seeded"
    seed: int


@event
class Unreported(Event):
    """Something happened that the reporter could not describe; whatever it was, the run is no pass."""

    kind = "unreported"
    what: str


@event
class InternalFault(Event):
    kind = "internal_error"
    text: str


@event
class Interrupted(Event):
    kind = "interrupted"
    error_type: str
    message: str
    stack: list[str]


@event
class Ending(Event):
    """The time is over, or a person interrupts the run. Written by the supervisor, just before it sends SIGINT."""

    kind = "ending"


@event
class SessionEnded(Event):
    kind = "session_ended"
    exit_status: int
    duration: float
    created: float
    root: str | None
    collected: int
    json_exit_code: int
    stopped: str | None
    clipped_texts: int
    clipped_characters: int


@event
class Returned(Event):
    """pytest has come back, with all hooks after its session; its process has nothing more to do but exit with this."""

    kind = "returned"
    exit_status: int
