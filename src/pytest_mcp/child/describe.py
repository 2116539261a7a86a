"""Text for records, made from pytest's objects.

In come reasons, contexts of subtests and tracebacks; out come strings. Standard library and pytest's public names only.
"""

from __future__ import annotations

import os
import re
from typing import Any, Callable

import pytest

Clip = Callable[[str], str]

# Frames of pytest itself, which do not show where a test is stuck.
MACHINERY = ("_pytest", "pytest", "pluggy", "__main__")
# The end of a line that is a location. For doctests and missing fixtures pytest writes an absolute path.
PLACE = re.compile(r"(?::\d+(?:: [A-Za-z_][\w.]*)?|, line \d+)$")


class Clipper:
    """Cuts the middle of every text that is longer than the limit, says there how much was cut, and counts it."""

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
    """The text of something, or a sentence that it cannot be shown: objects of the project may raise anything."""
    try:
        return str(make(*given))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a reporter must never raise into pytest
        return unshown(what, error)


def unshown(what: str, error: BaseException) -> str:
    return "[%s cannot be shown: turning it into text raised %s]" % (what, type(error).__name__)


class Marked:
    """A report whose text begins with a marker: pytest strips texts, and the first line would lose its indentation."""

    MARK = "|"

    def __init__(self, report: Any) -> None:
        self.report = report

    def toterminal(self, out: Any) -> None:
        out.line(self.MARK)
        self.report.toterminal(out)


def text_of(report: Any, root: str) -> str:
    """What pytest prints for a failure, without colour and with paths relative to the project's root."""
    text: str = pytest.TestReport.longreprtext.fget(Marked(report))[len(Marked.MARK) :].lstrip("\n")  # type: ignore[attr-defined]
    if root + os.sep not in text:
        return text
    return "\n".join(relative_place(line, root + os.sep) for line in text.split("\n"))


def relative_place(line: str, root: str) -> str:
    for lead in ("", "file "):
        if line.startswith(lead + root) and PLACE.search(line):
            return lead + line[len(lead + root) :].replace(os.sep, "/")
    return line


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
