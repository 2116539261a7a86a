"""A failure as data: the chain of exceptions, each with its text and its frames.

In comes the `longrepr` of pytest's report, so that its filters, `__tracebackhide__` and its explanations of assertions
hold, and so that reports from xdist's workers have it too. Out come plain lists, or None for what pytest keeps as text
only (doctests, exception groups, a custom `repr_failure`). Standard library only.
"""

from __future__ import annotations

import os
import re
from typing import Any

# A traceback deeper than this is told by its last frames. pytest itself shows twenty of an endless recursion.
MOST_FRAMES = 60
# A longer value or statement tells no more; the answer shows less than this anyway.
LONGEST_VALUE = 500
LONGEST_STATEMENT = 1000

# pytest marks the statement that failed, and each line of the exception's text, in the first column.
STATEMENT_MARK = ">"
TEXT_MARK = "E"
# The line of carets that newer versions draw below a statement.
_CARETS = re.compile(r"^[ ~^]+$")
_DEFINITION = re.compile(r"^ *(?:async )?def (\w+)")
_CAUSE = "direct cause"


def chain_of(longrepr: Any, root: str) -> list[Any] | None:
    """Each exception from the first raised to the last: [link to the next, note, lines of text, frames]."""
    try:
        links = getattr(longrepr, "chain", None) or [(longrepr.reprtraceback, longrepr.reprcrash, None)]
        return [_raised(traceback, description, root) for traceback, _, description in links]
    except Exception:  # noqa: BLE001 - whatever has another shape is told as text
        return None


def _raised(traceback: Any, description: str | None, root: str) -> list[Any]:
    entries = traceback.reprentries
    shown = entries[-MOST_FRAMES:]
    note = traceback.extraline
    if len(shown) < len(entries):
        note = "the last %d of %d frames" % (len(shown), len(entries))
    link = None if description is None else "cause" if _CAUSE in description else "context"
    frames = [_frame(entry, root) for entry in shown if entry.reprfileloc is not None]
    return [link, note, _text(entries[-1]), frames]


def _text(entry: Any) -> list[str]:
    """The lines of the exception, without pytest's mark; of `fail(pytrace=False)` there is nothing else."""
    if entry.reprfileloc is None:
        return [str(line) for line in entry.lines]
    marked = [line[1:] for line in entry.lines if line.startswith(TEXT_MARK)]
    if not marked:
        return []
    indent = len(marked[0]) - len(marked[0].lstrip(" "))
    return [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in marked]


def _frame(entry: Any, root: str) -> list[Any]:
    """[path, line, function, statement, arguments, local variables]"""
    place = entry.reprfileloc
    lines = [line for line in entry.lines if not line.startswith(TEXT_MARK)]
    arguments = entry.reprfuncargs.args if entry.reprfuncargs else []
    variables = entry.reprlocals.lines if entry.reprlocals else []
    return [
        _relative(str(place.path), root),
        int(place.lineno),
        _function(str(place.message), lines),
        _statement(lines),
        [[str(name), str(value)[:LONGEST_VALUE]] for name, value in arguments],
        [str(line)[:LONGEST_VALUE] for line in variables],
    ]


def _relative(path: str, root: str) -> str:
    absolute = os.path.normpath(os.path.join(root, path))
    inside = absolute.startswith(root + os.sep)
    return (absolute[len(root) + 1 :] if inside else absolute).replace(os.sep, "/")


def _function(message: str, lines: list[str]) -> str | None:
    """Named where frames are short; where they are whole, by the first definition in them. None for module code."""
    if message.startswith("in "):
        return message[len("in ") :]
    # Behind the column of the mark.
    found = next(filter(None, (_DEFINITION.match(line[1:]) for line in lines)), None)
    return found.group(1) if found else None


def _statement(lines: list[str]) -> str | None:
    """From the marked line to its end; frames that are short have nothing else."""
    start = next((index for index, line in enumerate(lines) if line.startswith(STATEMENT_MARK)), None)
    if start is not None:
        lines = [" " + lines[start][1:], *lines[start + 1 :]]
    source = [line for line in lines if not _CARETS.match(line)]
    text = "\n".join(line.strip() for line in source)[:LONGEST_STATEMENT]
    return text if text not in ("", "???") else None
