"""What pytest's objects say, as text for a record.

In come reasons, contexts of subtests and tracebacks; out come strings. Standard library only.
"""

from __future__ import annotations

from typing import Any, Callable

Clip = Callable[[str], str]

# Frames of the machinery, which tell nobody where a test is stuck.
MACHINERY = ("_pytest", "pytest", "pluggy", "__main__")


class Clipper:
    """Cuts the middle out of every text longer than the limit, says there how much it was, and counts."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # Counted once each: the last report of a test repeats what was captured before it.
        self.left_out: dict[int, int] = {}

    def __call__(self, text: str) -> str:
        if len(text) <= self.limit:
            return text
        half = self.limit // 2
        left_out = len(text) - 2 * half
        self.left_out[hash(text)] = left_out
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], left_out, text[-half:])


def told(what: str, make: Callable[..., object], *given: object) -> str:
    """The text of something, or that it cannot be shown: objects of the project may raise anything, even a skip."""
    try:
        return str(make(*given))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a reporter must never raise into pytest
        return unshown(what, error)


def unshown(what: str, error: BaseException) -> str:
    return "[%s cannot be shown: turning it into text raised %s]" % (what, type(error).__name__)


def skip_reason(longrepr: object) -> str:
    text = str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr or "")
    return text[len("Skipped: ") :] if text.startswith("Skipped: ") else text


def describe_subtest(context: object) -> str:
    message = getattr(context, "msg", None)
    values = ", ".join("%s=%s" % pair for pair in dict(getattr(context, "kwargs", {})).items())
    parts = (["[%s]" % message] if message is not None else []) + (["(%s)" % values] if values else [])
    return " ".join(parts) or "(<subtest>)"


def stack_of(excinfo: Any, relative: Callable[[str], str]) -> list[str]:
    """The frames of the project, the outermost first."""
    frames = [(entry.frame.f_globals.get("__name__") or "", entry) for entry in excinfo.traceback]
    return [
        "%s:%d: in %s" % (relative(str(entry.path)), entry.lineno + 1, entry.name)
        for module, entry in frames
        if module.partition(".")[0] not in MACHINERY
    ]
