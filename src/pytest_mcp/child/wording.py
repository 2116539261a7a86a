"""What pytest's objects say, as text for a record.

In come reasons, contexts of subtests and tracebacks; out come strings. Standard library only.
"""

from __future__ import annotations

from typing import Any, Callable

# Frames of the machinery, which tell nobody where a test is stuck.
MACHINERY = ("_pytest", "pytest", "pluggy", "__main__")


def clipper(limit: int) -> Callable[[str], str]:
    """Cut the middle out of every text longer than the limit, and say how much it was."""

    def clip(text: str) -> str:
        if len(text) <= limit:
            return text
        half = limit // 2
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])

    return clip


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
