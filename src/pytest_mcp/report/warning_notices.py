"""Notices on pytest's warnings: a sentence for each kind that matters, and one for each category of the others.

Pure. A warning fails no test, so a passed run may hide it. With detail full all warnings are in `text_output` and in
`json_report`, so only the kinds that matter have a notice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.report import grouping, places
from pytest_mcp.run.events import Warned
from pytest_mcp.run.run import Run
from pytest_mcp.text import cut_middle, few, label, safe_line

# How many categories of other warnings have a sentence, the most frequent first; the rest is counted.
MOST_CATEGORIES = 5
# The longest text shown of one exception or message, in characters.
SHOWN_EXCEPTION = 150
SHOWN_MESSAGE = 120

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
        "async test(s) did not run: pytest-asyncio or anyio is missing, or they lack its mark",
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


def warning_notices(run: Run[Request]) -> list[str]:
    warnings = run.ledger.warnings_in_order
    told = {kind: [warned for warned in warnings if _is(kind, warned)] for kind in _KINDS} if warnings else {}
    notes = [_sentence(kind, found, run) for kind, found in told.items() if found]
    if isinstance(run.request, ExecuteTests) and run.request.detail == "full":
        return notes
    return [*notes, *_others(run)]


def _others(run: Run[Request]) -> Iterator[str]:
    by_category: dict[str, list[Warned]] = {}
    for warned in run.ledger.warnings_in_order:
        if not any(_is(kind, warned) for kind in _KINDS):
            by_category.setdefault(warned.category, []).append(warned)
    most = sorted(by_category.items(), key=lambda entry: -len(entry[1]))
    yield from (_of_category(category, found, run) for category, found in most[:MOST_CATEGORIES])
    unlisted = sum(len(found) for _, found in most[MOST_CATEGORIES:])
    more = unlisted + run.ledger.warned - len(run.ledger.warnings)
    if more:
        where = "; detail full lists them" if isinstance(run.request, ExecuteTests) else ""
        yield f"{more} more warning(s){where}."


def _of_category(category: str, found: Sequence[Warned], run: Run[Request]) -> str:
    first = found[0]
    different = len({grouping.masked(warned.message[:SHOWN_MESSAGE], warned.id or "") for warned in found})
    kinds = f" ({different} different)" if different > 1 else ""
    message = " ".join(first.message.split())
    shown = message if len(message) <= SHOWN_MESSAGE else f"{message[: SHOWN_MESSAGE - 3]}..."
    # In quotes: a notice speaks for the server, and these are the words of a program.
    return f"{len(found)} {safe_line(category)}{kinds}, first at {_source(first, run)}: {shown!r}"


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
    return _line(warned, run) if warned.id is None else label(warned.id)


def _source(warned: Warned, run: Run[Request]) -> str:
    """The line, or the test if the line is not the project's."""
    line = _line(warned, run)
    return label(warned.id) if warned.id is not None and places.is_foreign(line) else places.short(line)


def _line(warned: Warned, run: Run[Request]) -> str:
    root = f"{run.environment.root}/"
    return f"{label(warned.filename.removeprefix(root))}:{warned.lineno}"
