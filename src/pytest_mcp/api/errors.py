"""Everything that makes a call fail, each with its JSON-RPC code and its data.

    CallError
    ├── InvalidParams        -32602  the caller's arguments; nothing was started
    ├── RefusedByPytest      -32602  the caller's arguments, as pytest judged them; carries a run's data too
    ├── ExecutionFailed      -32000  the run did not come to its end; `error_type` says why
    └── InternalError        -32603  our own bug

`message` alone must be enough to act on, because many clients show the model nothing else.
"""

import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from pytest_mcp import text

INVALID_PARAMS = -32602
EXECUTION_FAILED = -32000
INTERNAL_ERROR = -32603

ErrorType = Literal["interrupted", "pytest_internal", "usage_error", "crash", "timeout", "spawn_failure", "environment"]

# What a validation error repeats of a value that was refused.
MAX_RECEIVED = 500
# How many further faults, and how many lines of stderr, a message shows; data has all of them.
MAX_SHOWN = 8


class CallError(Exception):
    """A call that is answered with an error."""

    code: ClassVar[int]

    def __init__(self, message: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


@dataclass(frozen=True)
class Fault:
    """One thing wrong with one parameter."""

    field: str
    message: str
    type: str
    received: Any = None

    @property
    def line(self) -> str:
        shown = self.received if isinstance(self.received, str) else repr(self.received)
        return f"{self.field}: {self.message} (received {text.cut_middle(shown, 200, separator=' ')})"


def _faults_data(faults: Sequence[Fault]) -> dict[str, Any]:
    first = faults[0]
    return {
        "field": first.field,
        "detail": first.message,
        "received_value": _bounded(first.received),
        "validation_errors": [{"field": f.field, "message": f.message, "type": f.type} for f in faults],
    }


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return text.cut_middle(value, MAX_RECEIVED)
    shown = repr(value)
    return value if len(shown) <= MAX_RECEIVED else text.cut_middle(shown, MAX_RECEIVED)


def _fault_lines(faults: Sequence[Fault]) -> list[str]:
    lines = [f"Invalid params: {faults[0].line}", *(f.line for f in faults[1 : MAX_SHOWN + 1])]
    hidden = len(faults) - MAX_SHOWN - 1
    return [*lines, f"and {hidden} more"] if hidden > 0 else lines


class InvalidParams(CallError):
    code = INVALID_PARAMS

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(_fault_lines(faults)), _faults_data(faults))


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run that did not end in a result; every key of the error's data."""

    exit_code: int | None = None
    signal: str | None = None
    stdout: str = ""
    stderr: str = ""
    command: tuple[str, ...] = ()
    duration: float | None = None
    timeout_exceeded: bool = False
    collection_errors: tuple[dict[str, Any], ...] = ()
    partial: dict[str, Any] | None = None
    environment: dict[str, Any] | None = None

    def of_refusal(self) -> "RunFacts":
        """For a refused argument: the message says what stdout would, and the environment is not to blame."""
        return replace(self, stdout="", environment=None)

    def data(self, error_type: ErrorType) -> dict[str, Any]:
        facts = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        return {"error_type": error_type, **facts}


class RefusedByPytest(CallError):
    code = INVALID_PARAMS

    def __init__(self, faults: Sequence[Fault], facts: RunFacts) -> None:
        lines = _fault_lines(faults)
        super().__init__("\n".join(lines), {**_faults_data(faults), **facts.data("usage_error")})


@dataclass(frozen=True)
class Fix:
    """The one line that solves the problem: a shell command, or a sentence for whoever starts the server."""

    line: str
    for_operator: bool = False


class ExecutionFailed(CallError):
    code = EXECUTION_FAILED

    def __init__(
        self,
        error_type: ErrorType,
        headline: str,
        facts: RunFacts,
        *,
        details: Sequence[str] = (),
        fix: Fix | None = None,
    ) -> None:
        helps = [] if fix is None else [f"fix: {fix.line}"]
        lines = [headline, *details, *helps, *_quoted("stderr", facts.stderr)]
        super().__init__("\n".join(lines), facts.data(error_type))
        self.error_type = error_type
        self.fix = fix


def _quoted(name: str, output: str) -> list[str]:
    """What a person would look at first, marked so that nobody takes it for our words.

    That is the end of the output, but a dying Python prints its newest frame at the top.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    dying = next((index for index, line in enumerate(lines) if line.startswith("Fatal Python error")), None)
    shown = lines[-MAX_SHOWN:] if dying is None else lines[dying : dying + MAX_SHOWN]
    return [f"{name}| {text.cut_middle(line, 300, separator=' ')}" for line in shown]


class InternalError(CallError):
    code = INTERNAL_ERROR

    def __init__(self, error: BaseException) -> None:
        trace = "".join(traceback.format_exception(error))
        headline = f"Internal server error: {type(error).__name__}: {error}"
        super().__init__(f"{headline}\nThis is a bug of pytest-mcp, not of your project.", {"traceback": trace})
