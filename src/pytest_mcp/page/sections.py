"""What stands on the page of a run, and in which order: sections of blocks, which `page.js` draws.

Each section may have its share of the page, in bytes; what does not fit is counted. The failures and the list of
all tests, which take what is left, are in `document`.
"""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from pytest_mcp import __version__
from pytest_mcp.api.results import CollectionError, CoverageFile, Outcome, Summary, Timing, Verdict
from pytest_mcp.page.content import Content, PageOrigin, Result, SourceLines
from pytest_mcp.report import collection_errors, coverage, serialize, timing
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.text import cut_middle, few, label, span

# Their parts of the page's bytes.
NOTICES_SHARE = 0.04
ERRORS_SHARE = 0.12
COVERAGE_SHARE = 0.1
PAST_SHARE = 0.05
# In characters.
MAX_NAME = 500
MAX_SENTENCE = 2_000
MAX_TEXT = 8_000
MAX_BARS = 10
MAX_FAILING = 50
# Shorter times say nothing.
LEAST_SECONDS = 0.001

LETTERS: dict[Outcome, str] = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}
_MEANINGS = {
    "P": "passed",
    "F": "failed",
    "R": "passed only when a plugin repeated it",
    "E": "error",
    "C": "its file could not be collected",
    "H": "still running when its time was over",
    "S": "skipped",
    "?": "no outcome",
}
_NO_PASS = "This is not a pass."  # noqa: S105 - the verdict
_VERDICTS: dict[Verdict, tuple[str, str]] = {
    "passed": ("Passed", "Every selected test ran and none failed."),
    "failed": ("Failed", ""),
    "incomplete": ("Incomplete", f"Not every selected test has an outcome. {_NO_PASS}"),
    "no_tests": ("No tests", f"No test ran, so nothing was tested. {_NO_PASS}"),
}
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

# The kind of a block, which page.js knows, and its value.
Block = tuple[str, Any]


class PageSection(NamedTuple):
    id: str
    title: str
    blocks: list[Block]


class Banner(NamedTuple):
    # Its look; of an investigation that of the nearest verdict.
    verdict: Verdict
    word: str
    sentence: str
    more: str
    when: str


class Room:
    """Counts what is left of a limit in bytes."""

    def __init__(self, most: float) -> None:
        self.left = most

    def takes(self, value: Any) -> bool:
        size = len(escaped(serialize.safe(value))) + 1
        if size > self.left:
            return False
        self.left -= size
        return True


def escaped(value: Any) -> str:
    """JSON in ASCII without the characters that mean something in HTML: none of it can end a script element."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPES)


def short(name: str) -> str:
    return cut_middle(name, MAX_NAME, separator=" ")


def sentence(text: str) -> str:
    return cut_middle(text, MAX_SENTENCE)


def banner(report: Report, created: str) -> Banner:
    word, said = _VERDICTS[report.verdict]
    first, _, rest = (report.problem.message if report.problem else "").partition("\n")
    if report.problem is not None:
        word, said = "Incomplete" if report.summary.total else "Did not run", f"{first}. {_NO_PASS}"
    if report.verdict == "failed":
        said = _failed(report.summary)
    share = report.shard
    part = f"Shard {share.index} of {share.count}; the others are not on this page." if share else ""
    when = f"{span(report.duration)} · {created}"
    return Banner(report.verdict, word, " ".join(filter(None, [sentence(said), part])), rest, when)


def run_sections(content: Content, most: int) -> list[PageSection]:
    """In their order, in a part of `most` bytes."""
    report = content.report
    made = [
        PageSection("counts", "Counts", [("counts", _counts(report))]),
        notices([*report.share, *report.notices, *_unfinished(report)], most),
        failures(report),
        _collection_errors(report.collection_errors, most),
        notices(report.past, most, "later", "More notices"),
        _times(content),
        PageSection("tests", "All tests", [("tests", None)] if content.tests else []),
        _coverage(content, most),
        _past(content, most),
    ]
    return [section for section in made if section.blocks]


def notices(sentences: Sequence[str], most: int, name: str = "notices", title: str = "Notices") -> PageSection:
    return PageSection(name, title, _fitting("list", map(sentence, sentences), most * NOTICES_SHARE, "notices"))


def failures(report: Report) -> PageSection:
    number = len(report.groups)
    title = "1 cause of failure" if number == 1 else f"{number:,} causes of failure"
    return PageSection("failures", title, [("causes", None)] if number else [])


def strips(meaning: str, rows: Mapping[str, tuple[str, Sequence[Result]]], most: float) -> list[Block]:
    """Each name with its words and how many runs in a row."""
    if not rows:
        return []
    letters = {letter for _, results in rows.values() for letter, _ in results}
    legend = ", ".join(f"{letter} {meant}" for letter, meant in _MEANINGS.items() if letter in letters)
    drawn = ((short(name), words, results) for name, (words, results) in rows.items())
    return [("legend", meaning.format(legend)), *_fitting("strips", drawn, most, "tests")]


def facts(report: Report, origin: PageOrigin) -> list[tuple[str, str]]:
    known = report.environment
    values = {
        "Python": " · ".join(filter(None, [known.python, known.interpreter])) if known else None,
        "pytest": known.pytest if known else None,
        "Commit": origin.commit,
        "Command": origin.command,
        "pytest's command": shlex.join(report.command),
        "Made by": f"pytest-mcp {__version__}",
    }
    return [(name, cut_middle(value, MAX_SENTENCE, separator=" ")) for name, value in values.items() if value]


def recorded_ids(content: Content) -> list[str]:
    """The tests of which recorded runs are shown: one failing test of each cause, other failing ones, the slowest."""
    slowest = _slowest({test.node_id: test.duration for test in content.tests})
    return list(dict.fromkeys([*_failing(content)[:MAX_FAILING], *(name for name, _ in slowest)]))


def _fitting(kind: str, rows: Iterable[Any], most: float, things: str) -> list[Block]:
    """A block with the first rows, as many as fit, and how many there are besides."""
    listed, room = list(rows), Room(most)
    kept = list(takewhile(room.takes, listed))
    more = len(listed) - len(kept)
    left_out: list[Block] = [("text", f"{more:,} more {things} are left out.")] if more else []
    return [*([(kind, kept)] if kept else []), *left_out]


def _failed(summary: Summary) -> str:
    bad = {"failed": summary.failed, "with errors": summary.errors}
    counted = " and ".join(f"{number:,} {name}" for name, number in bad.items() if number)
    return f"{counted} of {summary.total:,}." if counted else "No test failed, but pytest reports a failure."


def _counts(report: Report) -> list[tuple[str, str, int]]:
    """Each with the class that has its colour."""
    summary, not_run = report.summary, report.not_run + len(report.running)
    return [
        ("failed", "failed", summary.failed),
        ("errors", "error", summary.errors),
        ("passed", "passed", summary.passed),
        ("skipped", "skipped", summary.skipped),
        *([("not run", "not-run", not_run)] if not_run else []),
        *([("deselected", "deselected", report.deselected)] if report.deselected else []),
        ("total", "total", summary.total),
    ]


def _collection_errors(errors: Sequence[CollectionError], most: int) -> PageSection:
    rows = [
        (
            short(error.file if error.line is None else f"{error.file}:{error.line}"),
            sentence(f"{error.error_type}: {error.message}"),
            f"and {error.also} more files with this cause" if error.also else "",
            cut_middle(error.traceback or "", MAX_TEXT),
        )
        for error in map(collection_errors.without_machinery, errors)
    ]
    title = "Files that could not be collected"
    return PageSection("uncollected", title, _fitting("errors", rows, most * ERRORS_SHARE, "such files"))


def _times(content: Content) -> PageSection:
    files: dict[str, float] = defaultdict(float)
    for test in content.tests:
        files[test.node_id.partition("::")[0]] += test.duration
    slowest = {test.node_id: test.duration for test in content.tests}
    charts = [("Slowest tests", _bars(slowest)), ("Slowest files", _bars(files))]
    said: list[Block] = []
    if known := content.report.timing:
        said = [("text", sentence(f"{known.saving}."))]
        charts = [(title, _timed_bars(known, kind)) for kind, title in timing.TITLES.items()] + charts[1:]
    drawn = [chart for chart in charts if len(chart[1]) > 1 or (said and chart[1])]
    return PageSection("times", "Where the time went", [*said, *([("charts", drawn)] if drawn else [])])


def _timed_bars(known: Timing, kind: str) -> list[tuple[str, str, float]]:
    whole = max(timing.LEAST, *(part.seconds for part in known.parts))
    rows = timing.chart(known, kind)[:MAX_BARS]
    labels = (f"{row.seconds:.3f} s" + (f", {row.note}" if row.note else "") for row in rows)
    shares = (round(min(100.0, 100 * row.seconds / whole), 1) for row in rows)
    return list(zip((short(row.name) for row in rows), labels, shares, strict=True))


def _slowest(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    slowest = sorted(seconds.items(), key=lambda each: -each[1])[:MAX_BARS]
    return [(name, spent) for name, spent in slowest if spent >= LEAST_SECONDS]


def _bars(seconds: Mapping[str, float]) -> list[tuple[str, str, float]]:
    """Name, label and share of the longest in percent."""
    slowest = _slowest(seconds)
    return [(short(name), f"{spent:.3f} s", round(100 * spent / slowest[0][1], 1)) for name, spent in slowest]


def _unfinished(report: Report) -> list[str]:
    if report.problem is None:
        return []
    running = [f"Running when the run ended: {few(map(label, report.running))}."] if report.running else []
    return [*running, *([f"Not started: {report.not_run} selected tests."] if report.not_run else [])]


def _coverage(content: Content, most: int) -> PageSection:
    measured = content.report.coverage
    if measured is None:
        return PageSection("coverage", "Coverage", [])
    covered = coverage.coverage_answer(measured, len(measured.files), in_full=True)
    counts = {file.file: file.lines for file in measured.files}
    rows = (_covered(file, counts.get(file.file), content.missed_lines.get(file.file, ())) for file in covered.files)
    percent = "" if covered.percent is None else f"{covered.percent:g} %: "
    sentences = [
        f"{percent}{covered.summary}.",
        f"Not everything ran that could have: {covered.partial}." if covered.partial else "",
        f"Not measured: {', '.join(covered.not_measured)}." if covered.not_measured else "",
    ]
    said: list[Block] = [("text", sentence(text)) for text in sentences if text]
    fitting = _fitting("coverage", rows, most * COVERAGE_SHARE, "files with lines that did not run")
    return PageSection("coverage", "Coverage", [*said, *fitting])


def _covered(file: CoverageFile, lines: int | None, source: SourceLines) -> tuple[str, str, str, str, SourceLines]:
    """Name, share, which lines did not run, which branches were not taken, and the text of the lines."""
    percent = f"{100 * (lines - file.count) // lines} %, " if lines else ""
    missed = f"{file.count:,} line{'' if file.count == 1 else 's'} did not run"
    branches = f"Branches that were not taken: {sentence(', '.join(file.branches))}" if file.branches else ""
    return short(file.file), percent + missed, sentence(", ".join(file.missed)), branches, source


def _past(content: Content, most: int) -> PageSection:
    if content.past is None:
        return PageSection("past", "Recorded runs", [])
    now = {test.node_id: test for test in content.tests}
    rows: dict[str, tuple[str, list[Result]]] = {}
    for name in recorded_ids(content):
        earlier, test = content.past.get(name, ()), now.get(name)
        this = [] if test is None else [(LETTERS[test.outcome], round(test.duration, 3))]
        rows[name] = _words(earlier, test), [*earlier, *this]
    meaning = "One letter for each run, the oldest first and this one last: {}. The bar is how long the test took."
    blocks = strips(meaning, rows, most * PAST_SHARE)
    if (more := len(_failing(content)) - MAX_FAILING) > 0:
        blocks.append(("text", f"{more:,} more failing tests are left out here."))
    return PageSection("past", "Recorded runs", blocks)


def _failing(content: Content) -> list[str]:
    examples = [group.example.node_id for group in content.report.groups]
    return list(dict.fromkeys([*examples, *(failure.node_id for failure in content.report.failures)]))


def _words(earlier: Sequence[Result], now: RanTest | None) -> str:
    failed = sum(letter in "FE" for letter, _ in earlier)
    known = f"failed {failed} of {len(earlier)} times before" if earlier else "no earlier run is recorded"
    return known if now is None else f"{now.duration:.3f} s, {known}"
