"""Notices on pytest's warnings: a sentence for each kind that matters, and a count of the others.

Pure. A warning fails no test, so a passed run may hide it. All warnings are in pytest's output and, with detail full,
in `json_report`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_mcp.api.requests import Request
from pytest_mcp.events.model import Warned
from pytest_mcp.events.run import Run
from pytest_mcp.text import cut_middle, few, label

# Fewer other warnings than this are not reported.
MANY_WARNINGS = 20
# The longest text shown of one exception, in characters.
SHOWN_EXCEPTION = 150

_EXCEPTION = r"(?m)^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b.*)$"


@dataclass(frozen=True)
class _Kind:
    """Warnings of one category. If the pattern has a group, what it matches in the message is shown."""

    category: str
    pattern: re.Pattern[str]
    words: str


_KINDS = (
    _Kind(
        "PytestUnknownMarkWarning",
        re.compile(r"Unknown pytest\.mark\.(\w+)"),
        "mark(s) are not registered, so a typo in one goes unnoticed",
    ),
    _Kind(
        "PytestCollectionWarning",
        re.compile(r"cannot collect (?:test class )?'([^'\n]+)'"),
        "class(es) or function(s) are named like tests, but pytest could not collect them",
    ),
    _Kind(
        "PytestReturnNotNoneWarning",
        re.compile(""),
        "test(s) return a value, which pytest ignores, perhaps where assert was meant",
    ),
    _Kind(
        "PytestUnhandledCoroutineWarning",
        re.compile(""),
        "async test(s) did not run: no plugin for them is installed (pytest-asyncio, anyio)",
    ),
    _Kind(
        "RuntimeWarning",
        re.compile(r"coroutine '([^'\n]+)' was never awaited"),
        "coroutine(s) were never awaited, so what they would do was not tested",
    ),
    _Kind(
        "PytestUnhandledThreadExceptionWarning",
        re.compile(_EXCEPTION),
        "exception(s) ended a thread and failed no test",
    ),
    _Kind(
        "PytestUnraisableExceptionWarning",
        re.compile(_EXCEPTION),
        "exception(s) were raised where they fail no test (in __del__, or at garbage collection)",
    ),
)


def of_run(run: Run[Request]) -> list[str]:
    warnings = run.ledger.warnings
    told = {kind: [warned for warned in warnings if _is(kind, warned)] for kind in _KINDS} if warnings else {}
    others = run.ledger.warned - sum(map(len, told.values()))
    notes = [_sentence(kind, found, run) for kind, found in told.items() if found]
    if others >= MANY_WARNINGS and run.request.detail != "full":
        notes.append(f"{others} {'other ' if notes else ''}warnings; detail full lists them.")
    return notes


def _is(kind: _Kind, warned: Warned) -> bool:
    return warned.category == kind.category and (not kind.pattern.groups or bool(kind.pattern.search(warned.message)))


def _sentence(kind: _Kind, found: list[Warned], run: Run[Request]) -> str:
    names = list(dict.fromkeys(_names(kind, found)))
    count = len(names) if kind.category == "PytestUnknownMarkWarning" else len(found)
    shown = f" ({few(map(repr, names))})" if names else ""
    return f"{count} {kind.words}{shown}; first at {_place(found[0], run)}."


def _names(kind: _Kind, found: Iterable[Warned]) -> Iterable[str]:
    """The last match in each message: a traceback ends with what was raised."""
    if not kind.pattern.groups:
        return
    for warned in found:
        yield cut_middle(kind.pattern.findall(warned.message)[-1], SHOWN_EXCEPTION, separator=" ")


def _place(warned: Warned, run: Run[Request]) -> str:
    """The test, or the line if no test was running."""
    if warned.id is not None:
        return label(warned.id)
    root = f"{run.environment.get('root')}/"
    return f"{label(warned.filename.removeprefix(root))}:{warned.lineno}"
