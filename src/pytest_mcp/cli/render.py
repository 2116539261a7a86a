"""What a person reads of a run, the most important at the end, where the eye is when a terminal stands still.

Pure: a result or an error in, lines out. First comes what pytest printed besides, then tests without a failure where
they are listed, then one failure of each cause, the largest cause last, then files that could not be collected,
notices, the command that runs the failures again, and one line that says it all.
"""

from collections.abc import Iterator, Sequence

from pytest_mcp.api.errors import CallError, InternalError
from pytest_mcp.api.results import (
    CollectionError,
    ExecuteResult,
    FailureGroup,
    PartialResult,
    Summary,
    TestResult,
    Verdict,
)
from pytest_mcp.cli.colours import RESET, Colour, Ink
from pytest_mcp.report import collection_errors, pytest_output
from pytest_mcp.text import safe, safe_line, safe_with_colour, span

Lines = list[str]

_VERDICTS: dict[Verdict, tuple[str, Colour]] = {
    "passed": ("passed", "green"),
    "failed": ("failed", "red"),
    "incomplete": ("incomplete", "yellow"),
    "no_tests": ("no tests", "yellow"),
}
# How a line of a traceback begins, and how it is shown.
_MARKS: dict[str, tuple[Colour, ...]] = {"E": ("red",), ">": ("bold",)}


def of_run(result: ExecuteResult, ink: Ink, *, again: str | None) -> Lines:
    """`again` is the command that runs the failures again."""
    blocks = [
        _printed(result.text_output, ink),
        [_quiet(test) for test in result.tests if not _is_bad(test)],
        *_failures(result, ink),
        *(of_uncollected(error, ink) for error in result.collection_errors),
        of_notices(result.notices, ink),
        _left_out(result, ink),
        [f"To run the failures again: {safe_line(again)}"] if again else [],
        [_closing(result, ink)],
    ]
    return _spaced(blocks)


def of_error(error: CallError, ink: Ink) -> Lines:
    first, *others = safe(error.message).split("\n")
    trace = safe(error.data["traceback"]).rstrip("\n").split("\n") if isinstance(error, InternalError) else []
    return [ink.paint(first, "bold", "red"), *others, *trace]


def of_uncollected(error: CollectionError, ink: Ink) -> Lines:
    place = error.file if error.line is None else f"{error.file}:{error.line}"
    traceback = collection_errors.without_outside_frames(error).traceback or ""
    return [
        ink.paint(safe_line(f"NOT COLLECTED {place}"), "bold", "red"),
        *safe(f"{error.error_type}: {error.message}").split("\n"),
        *_traceback(traceback, ink),
    ]


def of_notices(notices: Sequence[str], ink: Ink) -> Lines:
    return [f"{ink.paint('note:', 'yellow')} {safe_line(notice)}" for notice in notices]


def _spaced(blocks: Sequence[Lines]) -> Lines:
    """An empty line between two blocks."""
    told = [block for block in blocks if block]
    return [line for index, block in enumerate(told) for line in ([""] if index else []) + block]


def _printed(output: str, ink: Ink) -> Lines:
    rest = pytest_output.without_closing_line(output)
    if not rest:
        return []
    return [*safe_with_colour(rest + RESET).split("\n")] if ink.colours else safe(rest).split("\n")


def _quiet(test: TestResult) -> str:
    reason = f" ({safe_line(test.message)})" if test.message else ""
    return f"{test.outcome} {safe_line(test.node_id)}{reason}"


def _failures(result: ExecuteResult, ink: Ink) -> Iterator[Lines]:
    bad = {test.node_id: test for test in result.tests if _is_bad(test)}
    for cause in reversed(result.failure_groups):
        shown = [bad[node_id] for node_id in reversed([cause.example, *cause.node_ids]) if node_id in bad]
        for test in shown:
            yield _failure(test, cause, ink)
        yield _others(cause, shown, ink)


def _failure(test: TestResult, cause: FailureGroup, ink: Ink) -> Lines:
    word = {"failed": "FAILED", "error": "ERROR"}[test.outcome]
    return [
        ink.paint(safe_line(f"{word} {test.node_id}"), "bold", "red"),
        _cause(cause, (test.message or "").strip().partition("\n")[0], ink),
        *_traceback(test.traceback or "", ink),
    ]


def _others(cause: FailureGroup, shown: Sequence[TestResult], ink: Ink) -> Lines:
    """Failures of the same cause that are only named or counted; the cause itself, where there was no room for more."""
    more = cause.count - len(shown)
    if not more:
        return []
    listed = {test.node_id for test in shown}
    names = [safe_line(name) for name in (cause.example, *cause.node_ids) if name not in listed]
    unnamed = [f"and {more - len(names)} others"] if more > len(names) else []
    headline = f"and {more} more with the same cause:" if shown else f"FAILED: {more} with one cause"
    said = [] if shown else [_cause(cause, cause.message, ink)]
    return [ink.paint(headline, "bold", "red"), *said, *(f"  {name}" for name in names + unnamed)]


def _cause(cause: FailureGroup, message: str, ink: Ink) -> str:
    place = f"{cause.location}: " if cause.location else ""
    return f"{ink.paint(safe_line(place), 'cyan')}{safe_line(message)}"


def _traceback(traceback: str, ink: Ink) -> Lines:
    lines = safe(traceback).rstrip("\n").split("\n")
    return ["", *(ink.paint(line, *_MARKS.get(line.split(" ")[0], ())) for line in lines)] if any(lines) else []


def _left_out(result: ExecuteResult, ink: Ink) -> Lines:
    if result.omitted is None or not result.omitted.text_characters:
        return []
    return [ink.paint(f"{result.omitted.text_characters} characters were left out; --detail full shows all.", "dim")]


def _closing(result: ExecuteResult, ink: Ink) -> str:
    word, colour = _VERDICTS[result.verdict]
    counts = _counts(result.summary)
    if isinstance(result, PartialResult):
        unfinished = [(len(result.running), "running"), (result.not_run, "not run")]
        counts += [f"{number} {name}" for number, name in unfinished if number]
    told = ", ".join(counts) or "nothing ran"
    return ink.paint(f"{word}: {told} in {span(result.summary.duration)}", "bold", colour)


def _counts(summary: Summary) -> list[str]:
    errors = "error" if summary.errors == 1 else "errors"
    numbers = {"failed": summary.failed, errors: summary.errors, "passed": summary.passed, "skipped": summary.skipped}
    return [f"{number} {name}" for name, number in numbers.items() if number]


def _is_bad(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")
