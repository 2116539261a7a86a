"""Every error that a call can be answered with: its JSON-RPC code, its message and its data.

    CallError
    ├── InvalidParams        -32602  the caller's arguments; nothing was started
    │   ├── NotInitialized           a request before the handshake
    │   └── RefusedByPytest          as pytest judged them; carries a run's data too
    ├── ExecutionFailed      -32000  the run did not come to its end; `error_type` says why
    └── InternalError        -32603  our own bug

`message` alone must be enough to act on, because many clients show the model nothing else. Which cause becomes which
error is decided by the caller; how much of its data is sent, in `report/error_data.py`.
"""

import json
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from pytest_mcp import text
from pytest_mcp.api.advice import Sentence

INVALID_PARAMS = -32602
EXECUTION_FAILED = -32000
INTERNAL_ERROR = -32603

ErrorType = Literal["interrupted", "pytest_internal", "usage_error", "crash", "timeout", "spawn_failure", "environment"]

# In the message.
MAX_FAULTS = 9
MAX_STDERR_LINES = 8
# In `data`: faults, and what it repeats of a value that was refused.
MAX_LISTED_FAULTS = 50
MAX_RECEIVED = 500
# In characters. Names of parameters can be the caller's own, and sentences can quote pytest.
MAX_FIELD = 100
MAX_SENTENCE = 500
# A message has a few short lines; only foreign text makes it longer.
MAX_MESSAGE = 8_000


class CallError(Exception):
    """A call that is answered with an error."""

    code: ClassVar[int]

    def __init__(self, message: str, data: dict[str, Any]) -> None:
        self.message = text.cut_middle(message, MAX_MESSAGE)
        super().__init__(self.message)
        self.data = data


@dataclass(frozen=True)
class Fault:
    """One thing wrong with one parameter, and what to do about it if that is known."""

    field: str
    message: str
    type: str
    received: Any = None
    advice: str | None = None

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.message, "; ", self.advice) if self.advice else Sentence(self.message)

    @property
    def details(self) -> Sentence:
        """The sentence, and the value as it was sent: "1" is not 1."""
        received = json.dumps(self.received, ensure_ascii=False, default=repr)
        return Sentence(self.sentence, f" (received {text.cut_middle(received, 200, separator=' ')})")


def _said_once(faults: Sequence[Fault]) -> list[Fault]:
    """Each fault in short words; one whose sentence was said before refers to where."""
    first: dict[str, str] = {}
    short = []
    for fault in faults:
        field = text.cut_middle(fault.field, MAX_FIELD, separator=" ")
        reference = f"has the same fault as {first.setdefault(fault.sentence, field)}"
        if first[fault.sentence] != field and len(reference) < len(fault.sentence):
            fault = replace(fault, message=reference, advice=None)  # noqa: PLW2901
        message = text.cut_middle(fault.message, MAX_SENTENCE, separator=" ")
        short.append(replace(fault, field=field, message=message))
    return short


def _faults_data(faults: Sequence[Fault]) -> dict[str, Any]:
    first, *_ = listed = _said_once(faults[:MAX_LISTED_FAULTS])
    errors = [{"field": fault.field, "message": fault.sentence, "type": fault.type} for fault in listed]
    if hidden := faults[MAX_LISTED_FAULTS:]:
        field = hidden[0].field.partition(".")[0]
        errors.append({"field": field, "message": f"{len(hidden)} more faults are not listed", "type": "more"})
    written = first.received if isinstance(first.received, str) else repr(first.received)
    received = first.received if len(written) <= MAX_RECEIVED else text.cut_middle(written, MAX_RECEIVED)
    return {"field": first.field, "detail": first.message, "received_value": received, "validation_errors": errors}


class InvalidParams(CallError):
    code = INVALID_PARAMS

    def __init__(self, faults: Sequence[Fault], **facts: Any) -> None:
        first, *others = (f"{fault.field}: {fault.details}" for fault in _said_once(faults[:MAX_FAULTS]))
        hidden = len(faults) - MAX_FAULTS
        lines = [f"Invalid params: {first}", *others, *([f"and {hidden} more"] if hidden > 0 else [])]
        super().__init__("\n".join(lines), {**_faults_data(faults), **facts})
        self.faults = faults


class NotInitialized(InvalidParams):
    def __init__(self, method: str) -> None:
        what_to_do = "came before initialize; send initialize, then notifications/initialized, then this again"
        super().__init__([Fault("method", what_to_do, "not_initialized", method)], error_type="not_initialized")


@dataclass(frozen=True)
class RunEnvironment:
    """Where a run took place."""

    root: str
    interpreter: str | None
    candidates: Sequence[dict[str, str | None]]
    python: str | None
    pytest: str | None
    config_file: str | None


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
    environment: RunEnvironment | None = None

    def data(self, error_type: ErrorType) -> dict[str, Any]:
        facts = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        return {"error_type": error_type, **facts}


class RefusedByPytest(InvalidParams):
    def __init__(self, faults: Sequence[Fault], facts: RunFacts) -> None:
        super().__init__(faults, **facts.data("usage_error"))


class ExecutionFailed(CallError):
    code = EXECUTION_FAILED

    def __init__(
        self,
        error_type: ErrorType,
        headline: str,
        facts: RunFacts,
        *,
        details: Sequence[str] = (),
        fix: Sentence | None = None,
    ) -> None:
        """`fix` is what certainly helps, if that is known."""
        sentences = [text.cut_middle(sentence, MAX_SENTENCE, separator=" ") for sentence in (headline, *details)]
        self._before, self._after = sentences, _quoted_stderr(facts.stderr, headline)
        super().__init__(self.message_with(fix), facts.data(error_type))
        self.error_type = error_type
        self.headline = headline
        self.facts = facts
        self.details = details
        self.fix = fix

    def message_with(self, fix: str | None) -> str:
        """The message with the fix in other words."""
        return "\n".join([*self._before, *([] if fix is None else [f"fix: {fix}"]), *self._after])

    def with_facts(self, **changes: Any) -> "ExecutionFailed":
        """The same error, in the same words, with other data."""
        facts = replace(self.facts, **changes)
        error = ExecutionFailed.__new__(ExecutionFailed, self.message)
        error.__dict__.update(self.__dict__, facts=facts, data=facts.data(self.error_type))
        return error


def _quoted_stderr(output: str, headline: str) -> list[str]:
    """The last lines of the output that the headline has not, marked so that nobody takes them for our words.

    After a fatal error of Python the first lines: it prints the innermost frame at the top.
    """
    said = {"", *(line.strip() for line in headline.removeprefix("pytest execution failed: ").splitlines())}
    lines = [line for line in output.splitlines() if line.strip().removeprefix("ERROR: ") not in said]
    fatal = next((index for index, line in enumerate(lines) if line.startswith("Fatal Python error")), None)
    kept = lines[-MAX_STDERR_LINES:] if fatal is None else lines[fatal : fatal + MAX_STDERR_LINES]
    return [f"stderr| {text.cut_middle(line, 300, separator=' ')}" for line in kept]


class InternalError(CallError):
    code = INTERNAL_ERROR

    def __init__(self, error: BaseException) -> None:
        trace = "".join(traceback.format_exception(error))
        headline = f"Internal server error: {type(error).__name__}: {error}"
        super().__init__(f"{headline}\nThis is a bug of pytest-mcp, not of your project.", {"traceback": trace})
