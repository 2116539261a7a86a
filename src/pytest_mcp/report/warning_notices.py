"""Notices on pytest's warnings: a sentence for each kind that matters, and one for each category of the others.

A warning fails no test, so a passed run may hide it. With detail full all warnings are in `text_output` and in
`json_report`, so only the kinds that matter have a notice.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.report import grouping, places
from pytest_mcp.run.events import Warned
from pytest_mcp.run.run import Run
from pytest_mcp.text import cut_middle, few, label, safe_line

# How many categories of other warnings have a sentence, the most frequent first; the rest is counted.
MAX_CATEGORIES = 5
# The longest text shown of one exception or message, in characters.
SHOWN_EXCEPTION = 150
SHOWN_MESSAGE = 120

_EXCEPTION = re.compile(r"(?m)^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b.*)$")
_UNKNOWN_MARK = "PytestUnknownMarkWarning"


class _Kind(NamedTuple):
    category: str
    words: str
    # What it finds in the message is named; a warning in which it finds nothing is of another kind.
    pattern: re.Pattern[str] | None = None


_KINDS = (
    _Kind(
        _UNKNOWN_MARK,
        "mark(s) are not registered, so a typo in one goes unnoticed",
        re.compile(r"Unknown pytest\.mark\.(\w+)"),
    ),
    _Kind(
        "PytestCollectionWarning",
        "class(es) or function(s) are named like tests, but pytest could not collect them",
        re.compile(r"cannot collect (?:test class )?'([^'\n]+)'"),
    ),
    _Kind("PytestReturnNotNoneWarning", "test(s) return a value, which pytest ignores, perhaps where assert was meant"),
    _Kind(
        "PytestUnhandledCoroutineWarning",
        "async test(s) did not run: pytest-asyncio or anyio is missing, or they lack its mark",
    ),
    _Kind(
        "RuntimeWarning",
        "coroutine(s) were never awaited, so what they would do was not tested",
        re.compile(r"coroutine '([^'\n]+)' was never awaited"),
    ),
    _Kind("PytestUnhandledThreadExceptionWarning", "exception(s) ended a thread and failed no test", _EXCEPTION),
    _Kind(
        "PytestUnraisableExceptionWarning",
        "exception(s) were raised where they fail no test (in __del__, or at garbage collection)",
        _EXCEPTION,
    ),
)


def warning_notices(run: Run[Request]) -> list[str]:
    by_kind: dict[_Kind, list[Warned]] = {kind: [] for kind in _KINDS}
    others: dict[str, list[Warned]] = {}
    for warned in run.ledger.warnings_in_order:
        kind = next((kind for kind in _KINDS if _is_of(kind, warned)), None)
        (others.setdefault(warned.category, []) if kind is None else by_kind[kind]).append(warned)
    sentences = [_sentence(kind, warnings, run) for kind, warnings in by_kind.items() if warnings]
    if isinstance(run.request, ExecuteTests) and run.request.detail == "full":
        return sentences
    return [*sentences, *_others(others, run)]


def _is_of(kind: _Kind, warned: Warned) -> bool:
    return warned.category == kind.category and (kind.pattern is None or bool(kind.pattern.search(warned.message)))


def _sentence(kind: _Kind, warnings: Sequence[Warned], run: Run[Request]) -> str:
    # The last match in each message: a traceback ends with what was raised.
    matches = [kind.pattern.findall(warned.message)[-1] for warned in warnings] if kind.pattern else []
    names = list(dict.fromkeys(cut_middle(match, SHOWN_EXCEPTION, separator=" ") for match in matches))
    count = len(names) if kind.category == _UNKNOWN_MARK else len(warnings)
    named = f" ({few(map(repr, names))})" if names else ""
    first = warnings[0]
    place = _line(first, run) if first.id is None else label(first.id)
    return f"{count} {kind.words}{named}; first at {place}."


def _others(by_category: dict[str, list[Warned]], run: Run[Request]) -> Iterator[str]:
    most = sorted(by_category.items(), key=lambda entry: -len(entry[1]))
    yield from (_of_category(category, warnings, run) for category, warnings in most[:MAX_CATEGORIES])
    unlisted = sum(len(warnings) for _, warnings in most[MAX_CATEGORIES:])
    more = unlisted + run.ledger.more_warnings
    if more:
        where = "; detail full lists them" if isinstance(run.request, ExecuteTests) else ""
        yield f"{more} more warning(s){where}."


def _of_category(category: str, warnings: Sequence[Warned], run: Run[Request]) -> str:
    first = warnings[0]
    different = len({grouping.masked(warned.message[:SHOWN_MESSAGE], warned.id or "") for warned in warnings})
    kinds = f" ({different} different)" if different > 1 else ""
    message = " ".join(first.message.split())
    shown = message if len(message) <= SHOWN_MESSAGE else f"{message[: SHOWN_MESSAGE - 3]}..."
    # The line, or the test if the line is not the project's.
    line = _line(first, run)
    place = label(first.id) if first.id is not None and places.is_foreign(line) else places.short(line)
    # In quotes: a notice speaks for the server, and these are the words of a program.
    return f"{len(warnings)} {safe_line(category)}{kinds}, first at {place}: {shown!r}"


def _line(warned: Warned, run: Run[Request]) -> str:
    root = f"{run.environment.root}/"
    return f"{label(warned.filename.removeprefix(root))}:{warned.lineno}"
