"""What the child reports: one class for each kind of event. Those of a collection are in `collection`.

Pure. How a line becomes one of them is decided in `decode`, what they add up to in `ledger`.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_mcp.events.exceptions import Chain, parse_chain

# The way up from a root, however deep a path can be, and one plain name.
_ABOVE = re.compile(r"(?:\.\./){1,2048}[a-z._-]{1,40}")


@dataclass(frozen=True)
class Event:
    kind: ClassVar[str]


@dataclass(frozen=True)
class Hello(Event):
    """The interpreter has started; `pytest` is its version, or None with the reason in `error`."""

    kind = "hello"
    python: str
    executable: str
    pytest: str | None
    error: str | None


@dataclass(frozen=True)
class AboveRoot(Event):
    """What pytest would have used if its search did not end at the root: paths as seen from there."""

    kind = "above_root"
    settings: list[str]
    conftests: list[str]

    def __post_init__(self) -> None:
        """These go into a sentence of ours, so only the way up and a name that pytest looks for are accepted."""
        if not all(_ABOVE.fullmatch(path) for path in (*self.settings, *self.conftests)):
            raise ValueError("not above the root")


@dataclass(frozen=True)
class Configured(Event):
    kind = "configured"
    inifile: str | None
    from_cache: list[str]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class UsageFault(Event):
    """pytest's own UsageError, and the file that configures it, if there is one."""

    kind = "usage_error"
    messages: list[str]
    configuration: str | None


@dataclass(frozen=True)
class Escaped(Event):
    """An exception that left pytest altogether."""

    kind = "escaped"
    error_type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class SessionStarted(Event):
    kind = "session_started"


@dataclass(frozen=True)
class Started(Event):
    kind = "started"
    id: str


@dataclass(frozen=True)
class StartedAt(Started):
    """With xdist: the test's place in the collection. Its workers run tests in another order."""

    kind = "started_at"
    index: int


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Finished(Event):
    """A test is over. `passed` is false where it failed, was skipped, or was never called (--setup-plan)."""

    kind = "finished"
    id: str
    duration: float
    passed: bool


@dataclass(frozen=True)
class Warned(Event):
    kind = "warning"
    message: str
    category: str
    when: str
    filename: str
    lineno: int
    id: str | None


@dataclass(frozen=True)
class ImportedElsewhere(Event):
    """A package or module that the project has, and that was imported from another place than its own."""

    kind = "imported_elsewhere"
    name: str
    file: str
    own: str


@dataclass(frozen=True)
class Seeded(Event):
    """The seed that pytest-randomly orders tests by, and seeds random numbers with."""

    kind = "seeded"
    seed: int


@dataclass(frozen=True)
class Unreported(Event):
    """Something happened that the reporter could not describe; whatever it was, the run is no pass."""

    kind = "unreported"
    what: str


@dataclass(frozen=True)
class InternalFault(Event):
    kind = "internal_error"
    text: str


@dataclass(frozen=True)
class Interrupted(Event):
    kind = "interrupted"
    error_type: str
    message: str
    stack: list[str]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Returned(Event):
    """pytest has come back, with all hooks after its session; its process has nothing more to do but exit with this."""

    kind = "returned"
    exit_status: int
