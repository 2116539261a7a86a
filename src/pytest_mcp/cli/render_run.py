"""The text of `pytest-mcp run`, with the most important lines last, where a terminal stops scrolling.

The order: output of pytest that is nowhere else, listed tests without a failure, the failures that the answer shows
(the most important cause last), files that could not be collected, notices, the command that runs the failures again,
and one line with the verdict and the counts. In GitHub Actions, failures are annotations too. Pure.
"""

from collections.abc import Iterator

from pytest_mcp.api.errors import MAX_FAULTS, CallError, Fault, InternalError, InvalidParams
from pytest_mcp.api.results import (
    AgainstBase,
    CollectionError,
    Coverage,
    CoverageFile,
    ExecuteResult,
    FailureGroup,
    TestResult,
    Timing,
    Verdict,
)
from pytest_mcp.cli import typed_advice
from pytest_mcp.report import collection_errors, grouping, timing
from pytest_mcp.report.report import Report
from pytest_mcp.terminal.colours import RESET, Colour, Lines, Painter, lines_of_notices, spaced
from pytest_mcp.text import cut_middle, safe, safe_line, safe_with_colour, span

_VERDICTS: dict[Verdict, tuple[str, Colour]] = {
    "passed": ("passed", "green"),
    "failed": ("failed", "red"),
    "incomplete": ("incomplete", "yellow"),
    "no_tests": ("no tests", "yellow"),
}
# Failures in the list at the end.
MAX_LISTED = 100
# Of the longest bar.
BAR_COLUMNS = 20
# Lines that explain a failure in an annotation.
MAX_EXPLAINED = 6
# How a line of a traceback begins, and how it is shown.
_LINE_COLOURS: dict[str, tuple[Colour, ...]] = {"E": ("red",), ">": ("bold",)}


def report_lines(
    report: Report, result: ExecuteResult, painter: Painter, *, again: str | None, more: str = "--detail full"
) -> Lines:
    """`result` is what is shown of the report, `again` runs the failures again, `more` shows what is left out."""
    unshown = any(cause.example is None for cause in result.failure_groups)
    is_cut = unshown or (result.omitted is not None and result.omitted.text_characters)
    # The last line has the counts of pytest's closing line.
    printed = result.text_output.removesuffix(report.closing).rstrip("\n")
    shown = safe_with_colour(printed + RESET) if painter.has_colours else safe(printed)
    blocks = [
        shown.split("\n") if printed else [],
        [_not_failed(test) for test in result.tests if not is_failed(test)],
        *_failures(result, painter),
        *(collection_error_lines(error, painter) for error in result.collection_errors),
        _coverage(result.coverage, painter) if result.coverage else [],
        _base(result.base) if result.base else [],
        *(_timing(result.timing, painter) if result.timing else []),
        lines_of_notices(result.notices, painter),
        [painter.paint(f"Not everything is shown; {more} shows it.", "dim")] if is_cut else [],
        [f"To run the failures again: {safe_line(again)}"] if again else [],
        [*_closing_list(report, painter), _closing(report, painter)],
    ]
    return spaced(blocks)


def error_lines(error: CallError, painter: Painter, message: str | None = None) -> Lines:
    """`message` replaces that of the error."""
    if isinstance(error, InvalidParams):
        return [painter.paint(safe_line(_fault(fault)), "bold", "red") for fault in error.faults[:MAX_FAULTS]]
    first, *others = safe(message or error.message).split("\n")
    trace = safe(error.data["traceback"]).rstrip("\n").split("\n") if isinstance(error, InternalError) else []
    return [painter.paint(first, "bold", "red"), *others, *trace]


def _fault(fault: Fault) -> str:
    """In the words of the command line: the path itself, or the flag."""
    name = fault.field.partition(".")[0]
    if name in ("node_ids", "node_id", "path") and isinstance(fault.received, str):
        return f"{cut_middle(fault.received, 200, separator=' ')}: {typed_advice.typed(fault.sentence, None)}"
    return f"--{name.replace('_', '-')}: {typed_advice.typed(fault.details, None)}"


def collection_error_lines(error: CollectionError, painter: Painter) -> Lines:
    place = error.file if error.line is None else f"{error.file}:{error.line}"
    more = f" and {error.also} more" if error.also else ""
    traceback = collection_errors.without_machinery(error).traceback or ""
    return [
        painter.paint(safe_line(f"NOT COLLECTED {place}{more}"), "bold", "red"),
        *safe(f"{error.error_type}: {error.message}").split("\n"),
        *_traceback(traceback, painter),
    ]


def _coverage(coverage: Coverage, painter: Painter) -> Lines:
    """The files with the most missed lines last."""
    rest = coverage.omitted
    more = [f"and {rest.lines} lines in {rest.files} more files; --detail tests lists more."] if rest else []
    percent = "" if coverage.percent is None else f" ({coverage.percent:g} %)"
    partial = f"; partial: {coverage.partial}" if coverage.partial else ""
    unknown = [safe_line(f"not measured: {', '.join(coverage.not_measured)}")] if coverage.not_measured else []
    gaps = [_gaps(file, painter) for file in reversed(coverage.files)]
    return [*more, *gaps, *unknown, f"coverage: {safe_line(coverage.summary)}{percent}{safe_line(partial)}"]


def _base(base: AgainstBase) -> Lines:
    """The new failures last."""
    groups = {"mended": base.mended, "old": base.old, "changed": base.changed, "new": base.new}
    lines = [f"since {safe_line(base.ref)}:"]
    for name, group in groups.items():
        if group is not None and group.count:
            more = [f"and {group.count - len(group.node_ids)} more"] * (group.count > len(group.node_ids))
            lines += [f"  {group.count} {name}", *(f"    {safe_line(each)}" for each in [*group.node_ids, *more])]
    return lines if lines[1:] else [f"{lines[0]} no difference"]


def _timing(known: Timing, painter: Painter) -> Iterator[Lines]:
    """Bars of one scale, the parts of the run behind what they consist of, and last what would save most."""
    scale = BAR_COLUMNS / max(timing.LEAST, *(part.seconds for part in known.parts))
    for kind, title in reversed(timing.TITLES.items()):
        rows = timing.chart(known, kind)
        yield [painter.paint(title, "bold")] * bool(rows) + [_bar(row, scale, painter) for row in rows]
    before = f"{span(known.before_tests)} of {span(known.seconds)} passed before the first test."
    yield [before, painter.paint(safe_line(known.saving), "bold")]


def _bar(row: timing.Bar, scale: float, painter: Painter) -> str:
    bar = "#" * min(BAR_COLUMNS, round(row.seconds * scale))
    drawn = painter.paint(bar, "cyan") + " " * (BAR_COLUMNS - len(bar))
    return f"{row.seconds:9.3f} s {drawn} {safe_line(row.name)}" + (f" ({row.note})" if row.note else "")


def _gaps(file: CoverageFile, painter: Painter) -> str:
    parts = {"not run": file.missed, "not taken": file.branches or []}
    gaps = "; ".join(f"{what} {', '.join(places)}" for what, places in parts.items() if places)
    return f"{painter.paint(safe_line(file.file), 'cyan')}: {gaps}"


def _not_failed(test: TestResult) -> str:
    reason = f" ({safe_line(test.message)})" if test.message else ""
    return f"{test.outcome} {safe_line(test.node_id)}{reason}"


def _failures(result: ExecuteResult, painter: Painter) -> Iterator[Lines]:
    """The most important last. A failure that is alone with its cause has no group."""
    groups = {cause.example: cause for cause in result.failure_groups if cause.example is not None}
    for cause in reversed(result.failure_groups):
        if cause.example is None:
            yield _unshown(cause, painter)
    for index, test in reversed(list(enumerate(result.tests))):
        if is_failed(test):
            yield _failure(test, painter)
            yield _others(groups[index], painter) if index in groups and not _shows_every_failure(result) else []


def _shows_every_failure(result: ExecuteResult) -> bool:
    uncollected = sum(1 + error.also for error in result.collection_errors)
    return sum(map(is_failed, result.tests)) == result.summary.failed + result.summary.errors - uncollected


def _failure(test: TestResult, painter: Painter) -> Lines:
    return [
        painter.paint(safe_line(f"{test.outcome.upper()} {test.node_id}"), "bold", "red"),
        safe_line((test.message or "").strip().partition("\n")[0]),
        *_traceback(test.traceback or "", painter),
    ]


def _others(cause: FailureGroup, painter: Painter) -> Lines:
    """The failures of the same cause, which are only listed or counted."""
    more = cause.count - 1
    names = [safe_line(name) for name in cause.node_ids or []]
    unnamed = [f"and {more - len(names)} others"] if more > len(names) else []
    headline = painter.paint(f"and {more} more with the same cause:", "bold", "red")
    return [headline, *(f"  {name}" for name in names + unnamed)] if more else []


def _unshown(cause: FailureGroup, painter: Painter) -> Lines:
    """A cause without an example, or all causes that share the last line, which names no tests."""
    words = "with one cause" if cause.node_ids else "with other causes"
    headline = painter.paint(f"FAILED: {cause.count} {words}", "bold", "red")
    place = painter.paint(safe_line(f"{cause.location}: "), "cyan") if cause.location else ""
    names = [f"  {safe_line(name)}" for name in cause.node_ids or []]
    return [headline, f"{place}{safe_line(cause.message)}", *names]


def _traceback(traceback: str, painter: Painter) -> Lines:
    lines = safe(traceback).rstrip("\n").split("\n")
    painted = [painter.paint(line, *_LINE_COLOURS.get(line.split(" ")[0], ())) for line in lines]
    return ["", *painted] if any(lines) else []


def _closing_list(report: Report, painter: Painter) -> Lines:
    """Every failure in one line, as pytest lists them, where there are several."""
    failures = report.failures if len(report.failures) > 1 else ()
    lines = [
        f"{painter.paint('ERROR' if each.outcome == 'error' else 'FAILED', 'red')} "
        + safe_line(f"{each.node_id} - {grouping.line(each.cause)}")
        for each in failures[:MAX_LISTED]
    ]
    more = len(failures) - MAX_LISTED
    return [*lines, *([f"and {more} more"] if more > 0 else [])]


def _closing(report: Report, painter: Painter) -> str:
    word, colour = _VERDICTS[report.verdict]
    listed = ", ".join(f"{number} {name}" for name, number in _counts(report).items() if number) or "nothing ran"
    return painter.paint(f"{word}: {listed} in {span(report.summary.duration)}", "bold", colour)


def _counts(report: Report) -> dict[str, int]:
    """The summary counts tests marked xfail as passed or skipped."""
    summary, is_cut_short = report.summary, report.problem is not None
    return {
        "failed": summary.failed,
        "error" if summary.errors == 1 else "errors": summary.errors,
        "passed": summary.passed - report.xpassed,
        "skipped": summary.skipped - report.xfailed,
        "xfailed": report.xfailed,
        "xpassed": report.xpassed,
        "deselected": report.deselected,
        "rerun": report.repeated,
        "cut off": len(report.running) if is_cut_short else 0,
        "not run": report.not_run if is_cut_short else 0,
    }


def is_failed(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")


def annotations(report: Report, result: ExecuteResult, prefix: str) -> Lines:
    """The shown failures as workflow commands of GitHub Actions, which shows them beside the lines of a pull request.

    `prefix` leads from the top of the repository to the project's root: empty, or a folder with its slash.
    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    made = []
    failures = {failure.node_id: failure for failure in report.failures}
    for test in filter(is_failed, result.tests):
        file = test.node_id.partition("::")[0]
        places = [place.rpartition(":") for place in failures[test.node_id].own_places]
        last = next((int(line) for path, _, line in reversed(places) if path == file), None)
        made.append(_annotation(prefix + file, last, test.node_id, _explained(test)))
    for error in result.collection_errors:
        message = f"{error.error_type}: {error.message}"
        made.append(_annotation(prefix + error.file, error.line, "not collected", message))
    return made


def _explained(test: TestResult) -> str:
    """The message with the first lines that explain it: two shortened values may look alike."""
    message = test.message or test.outcome
    marked = [line[1:].strip() for line in (test.traceback or "").split("\n") if line.startswith("E ")]
    return "\n".join([message, *[line for line in marked if line not in message][:MAX_EXPLAINED]])


def _annotation(file: str, line: int | None, title: str, message: str) -> str:
    place = [f"file={_property(file)}", *([f"line={line}"] if line else []), f"title={_property(title)}"]
    return f"::error {','.join(place)}::{_data(safe(message))}"


def _data(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    return _data(safe_line(words)).replace(":", "%3A").replace(",", "%2C")
