"""The report of `pytest-mcp run`, with the most important lines last, where a terminal stops scrolling.

Pure: a result or an error in, lines out. The order: output of pytest that is nowhere else, listed tests without a
failure, one failure of each cause (the largest group last), files that could not be collected, notices, the command
that runs the failures again, and one line with the verdict and the counts.
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
from pytest_mcp.cli.colours import RESET, Colour, Painter
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
_LINE_COLOURS: dict[str, tuple[Colour, ...]] = {"E": ("red",), ">": ("bold",)}


def of_run(result: ExecuteResult, painter: Painter, *, again: str | None) -> Lines:
    """`again` is the command that runs the failures again."""
    blocks = [
        _printed(result.text_output, painter),
        [_not_failed(test) for test in result.tests if not _is_failed(test)],
        *_failures(result, painter),
        *(of_collection_error(error, painter) for error in result.collection_errors),
        of_notices(result.notices, painter),
        _left_out(result, painter),
        [f"To run the failures again: {safe_line(again)}"] if again else [],
        [_closing(result, painter)],
    ]
    return _spaced(blocks)


def of_error(error: CallError, painter: Painter) -> Lines:
    first, *others = safe(error.message).split("\n")
    trace = safe(error.data["traceback"]).rstrip("\n").split("\n") if isinstance(error, InternalError) else []
    return [painter.paint(first, "bold", "red"), *others, *trace]


def of_collection_error(error: CollectionError, painter: Painter) -> Lines:
    place = error.file if error.line is None else f"{error.file}:{error.line}"
    traceback = collection_errors.without_outside_frames(error).traceback or ""
    return [
        painter.paint(safe_line(f"NOT COLLECTED {place}"), "bold", "red"),
        *safe(f"{error.error_type}: {error.message}").split("\n"),
        *_traceback(traceback, painter),
    ]


def of_notices(notices: Sequence[str], painter: Painter) -> Lines:
    return [f"{painter.paint('note:', 'yellow')} {safe_line(notice)}" for notice in notices]


def _spaced(blocks: Sequence[Lines]) -> Lines:
    """An empty line between two blocks."""
    not_empty = [block for block in blocks if block]
    return [line for index, block in enumerate(not_empty) for line in ([""] if index else []) + block]


def _printed(output: str, painter: Painter) -> Lines:
    rest = pytest_output.without_closing_line(output)
    if not rest:
        return []
    return [*safe_with_colour(rest + RESET).split("\n")] if painter.has_colours else safe(rest).split("\n")


def _not_failed(test: TestResult) -> str:
    reason = f" ({safe_line(test.message)})" if test.message else ""
    return f"{test.outcome} {safe_line(test.node_id)}{reason}"


def _failures(result: ExecuteResult, painter: Painter) -> Iterator[Lines]:
    failed = {test.node_id: test for test in result.tests if _is_failed(test)}
    for cause in reversed(result.failure_groups):
        shown = [failed[node_id] for node_id in reversed([cause.example, *cause.node_ids]) if node_id in failed]
        for test in shown:
            yield _failure(test, cause, painter)
        yield _others(cause, shown, painter)


def _failure(test: TestResult, cause: FailureGroup, painter: Painter) -> Lines:
    word = {"failed": "FAILED", "error": "ERROR"}[test.outcome]
    return [
        painter.paint(safe_line(f"{word} {test.node_id}"), "bold", "red"),
        _cause(cause, (test.message or "").strip().partition("\n")[0], painter),
        *_traceback(test.traceback or "", painter),
    ]


def _others(cause: FailureGroup, shown: Sequence[TestResult], painter: Painter) -> Lines:
    """The failures of the same cause that are only listed or counted; with their cause if no example is shown."""
    more = cause.count - len(shown)
    if not more:
        return []
    listed = {test.node_id for test in shown}
    names = [safe_line(name) for name in (cause.example, *cause.node_ids) if name not in listed]
    unnamed = [f"and {more - len(names)} others"] if more > len(names) else []
    headline = f"and {more} more with the same cause:" if shown else f"FAILED: {more} with one cause"
    message = [] if shown else [_cause(cause, cause.message, painter)]
    return [painter.paint(headline, "bold", "red"), *message, *(f"  {name}" for name in names + unnamed)]


def _cause(cause: FailureGroup, message: str, painter: Painter) -> str:
    place = f"{cause.location}: " if cause.location else ""
    return f"{painter.paint(safe_line(place), 'cyan')}{safe_line(message)}"


def _traceback(traceback: str, painter: Painter) -> Lines:
    lines = safe(traceback).rstrip("\n").split("\n")
    return (
        ["", *(painter.paint(line, *_LINE_COLOURS.get(line.split(" ")[0], ())) for line in lines)] if any(lines) else []
    )


def _left_out(result: ExecuteResult, painter: Painter) -> Lines:
    if result.omitted is None or not result.omitted.text_characters:
        return []
    return [
        painter.paint(f"{result.omitted.text_characters} characters were left out; --detail full shows all.", "dim")
    ]


def _closing(result: ExecuteResult, painter: Painter) -> str:
    word, colour = _VERDICTS[result.verdict]
    counts = _counts(result.summary)
    if isinstance(result, PartialResult):
        unfinished = [(len(result.running), "running"), (result.not_run, "not run")]
        counts += [f"{number} {name}" for number, name in unfinished if number]
    listed = ", ".join(counts) or "nothing ran"
    return painter.paint(f"{word}: {listed} in {span(result.summary.duration)}", "bold", colour)


def _counts(summary: Summary) -> list[str]:
    errors = "error" if summary.errors == 1 else "errors"
    numbers = {"failed": summary.failed, errors: summary.errors, "passed": summary.passed, "skipped": summary.skipped}
    return [f"{number} {name}" for name, number in numbers.items() if number]


def _is_failed(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")
