"""How much of an answer is sent.

Pure: everything that can be said of a run, what the request says of detail and tokens, and the operator's ceiling in;
the answer that is sent, and what it leaves out, out. Answers form a ladder, from one line for all causes to every
test; the highest rung that fits is sent. So a larger budget never shows less, and `tests` shows what `auto` does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import (
    LISTED_WITHOUT_FAILURE,
    Coverage,
    ExecuteResult,
    FailureGroup,
    Omitted,
    TestResult,
)
from pytest_mcp.report import captured, collection_errors, coverage, grouping, rendering, truncation
from pytest_mcp.report.example_style import CAPTURED_LINES, Style, reductions
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.report.tokens import Fits, ever_larger, limit
from pytest_mcp.text import cut_middle

# How many causes have a line of their own, and how many of them an example; the others share one line.
MOST_CAUSES = 10
MOST_EXAMPLES = 5
# What pytest printed is cut in its middle beyond this, except with detail full.
TEXT_CHARACTERS = 4000
# Files with lines that did not run, before further causes have examples, and in all, except with detail tests or full.
FIRST_FILES = 5
MOST_FILES = 20

# Of what had finished, in the data of an error.
PARTIAL_BYTES = 2 * 1024 * 1024

BY_DETAIL = "detail: tests shows every failure"
BY_TOKENS = "raise max_tokens, or choose fewer tests"
BY_CAPTURE = "show_capture: true shows all that a test printed, up to max_tokens"
BY_FULL = "detail: full shows all that pytest printed"


@dataclass(frozen=True)
class Shown:
    """One rung: how much of each part is shown."""

    causes: int = 0
    errors: int = 0
    examples: int = 0
    style: Style = field(default_factory=Style)
    ids: bool = False
    text: bool = False
    further: int = 0
    not_failed: int = 0
    files: int = 0


def fit_execution(report: Report, request: ExecuteTests, *, ceiling: int) -> ExecuteResult:
    """What `detail` asks for, or as much of it as `max_tokens` and the ceiling in bytes leave."""
    fits = limit(request, ceiling)
    if request.detail == "full":
        for whole in _in_full(report):
            if fits(whole):
                return whole
    return _Answer(report, request).largest(fits)


def _in_full(report: Report) -> Iterator[ExecuteResult]:
    """Every test as pytest shows it, in the order in which they ran; then without the largest parts."""
    order = {test.node_id: number for number, test in enumerate(report.tests)}
    tests = sorted(
        [*(_whole(failure, report) for failure in report.failures), *map(_listed, report.not_failed)],
        key=lambda test: order.get(test.node_id, len(order)),
    )
    index = {test.node_id: number for number, test in enumerate(tests)}
    groups = [
        _line(cause, index[cause.example.node_id], [other.node_id for other in cause.others]) for cause in report.groups
    ]
    answer = report.answer(
        collection_errors=report.collection_errors,
        failure_groups=groups,
        tests=tests,
        text_output=report.printed,
        json_report=report.json_report,
        coverage=_coverage(report, len(report.coverage.files) if report.coverage else 0, in_full=True),
    )
    yield answer
    without = {"json_report": None}
    for dropped, characters in ((without, 0), ({**without, "text_output": ""}, len(report.printed))):
        omitted = Omitted(
            passed=0, skipped=0, same_cause_failures=0, text_characters=characters, hint="choose fewer tests"
        )
        yield answer.model_copy(update={**dropped, "omitted": omitted})


def _coverage(report: Report, files: int, *, in_full: bool) -> Coverage | None:
    return coverage.shown(report.coverage, files, in_full=in_full) if report.coverage else None


def _listed(test: RanTest) -> TestResult:
    return TestResult(
        node_id=test.node_id,
        outcome=test.outcome,
        duration=round(test.duration, 3),
        message=test.reason,
        traceback=None,
    )


def _whole(failure: Failure, report: Report) -> TestResult:
    return TestResult(
        node_id=failure.node_id,
        outcome=failure.outcome,
        duration=failure.duration,
        message=failure.message,
        traceback=rendering.in_full(failure, with_captured=report.captures),
    )


def _line(cause: Group, example: int | None, node_ids: list[str] | None) -> FailureGroup:
    return FailureGroup(
        count=cause.count,
        message=cause.message,
        location=cause.location,
        example=example,
        node_ids=node_ids,
    )


class _Answer:
    """The rungs of one report, each made when it is asked for."""

    def __init__(self, report: Report, request: ExecuteTests) -> None:
        self.report = report
        self.request = request
        self.errors = list(collection_errors.ever_fewer(report.collection_errors))
        examples = {cause.example.node_id for cause in report.groups}
        self.further = [failure for failure in report.failures if failure.node_id not in examples]
        # What every example has; with `show_capture: true`, what is captured may be longer.
        self.usual = Style(captured=CAPTURED_LINES if report.captures else 0, variables=report.locals)
        gaps = coverage.gaps(report.coverage)
        self.files = ever_larger(gaps if request.detail == "tests" else min(gaps, MOST_FILES))
        self.texts: dict[tuple[str, Style], TestResult] = {}
        # Of what was captured, in characters.
        self.left_out: dict[tuple[str, Style], int] = {}

    def largest(self, fits: Fits) -> ExecuteResult:
        head = list(self.rungs())
        top = head[-1]
        if fits(self.answer(top)):
            return self.answer(self._most(top, fits))
        for shown in reversed(head[:-1]):
            if fits(answer := self.answer(shown)):
                return answer
        least = self.answer(head[0])
        for number in range(len(least.notices) - 1, -1, -1):
            fewer = least.model_copy(update={"notices": truncation.first_notices(least.notices, number)})
            if fits(fewer):
                return fewer
        smallest = least
        for smallest in truncation.truncated(least):
            if fits(smallest):
                break
        return smallest

    def rungs(self) -> Iterator[Shown]:
        """From the least to what `auto` shows when everything fits. Each adds to the one before."""
        shown = Shown()
        groups = self.report.groups
        steps: list[dict[str, Any]] = [{"causes": number} for number in range(min(MOST_CAUSES, len(groups)) + 1)]
        steps += [{"errors": level} for level in range(1, len(self.errors))]
        if groups:
            styles = [self.usual, *reductions(self.usual)]
            steps += [{"examples": 1, "style": style} for style in reversed(styles)]
        steps += [{"ids": True}]
        steps += [{"files": number} for number in self.files if number <= FIRST_FILES]
        steps += [{"examples": number} for number in range(2, min(MOST_EXAMPLES, len(groups)) + 1)]
        steps += [{"text": True}]
        if len(self.report.not_failed) <= LISTED_WITHOUT_FAILURE:
            steps += [{"not_failed": len(self.report.not_failed)}]
        steps += [{"files": number} for number in self.files if number > FIRST_FILES]
        steps += [{"style": replace(self.usual, captured=lines)} for lines in self._more_captured()]
        for step in steps:
            shown = replace(shown, **step)
            yield shown

    def _more_captured(self) -> list[int | None]:
        """Ever more lines of what was captured, then all of it as it was written, if that was asked for."""
        if not self.request.show_capture:
            return []
        most = captured.most_lines(cause.example for cause in self.report.groups)
        return [*(number for number in ever_larger(most) if number > CAPTURED_LINES), None]

    def _most(self, top: Shown, fits: Fits) -> Shown:
        """With detail tests: every further cause and failure, then every other test, as far as they fit."""
        if self.request.detail == "auto":
            return top
        causes = len(self.report.groups)
        tail = [
            replace(top, causes=max(top.causes, number), examples=number)
            for number in range(top.examples + 1, causes + 1)
        ]
        last = tail[-1] if tail else top
        further = [replace(last, further=number) for number in range(1, len(self.further) + 1)]
        last = further[-1] if further else last
        others = [
            replace(last, not_failed=number) for number in range(last.not_failed + 1, len(self.report.not_failed) + 1)
        ]
        rungs = [top, *tail, *further, *others]
        least, most = 0, len(rungs) - 1
        while least < most:
            middle = (least + most + 1) // 2
            if fits(self.answer(rungs[middle])):
                least = middle
            else:
                most = middle - 1
        return rungs[least]

    def answer(self, shown: Shown) -> ExecuteResult:
        report = self.report
        text = cut_middle(report.condensed, TEXT_CHARACTERS) if shown.text else ""
        examples = [self._test(cause.example, shown.style) for cause in report.groups[: shown.examples]]
        further = [self._test(failure, shown.style) for failure in self.further[: shown.further]]
        answer = report.answer(
            collection_errors=self.errors[shown.errors] if self.errors else [],
            failure_groups=self._groups(shown),
            tests=[*examples, *further, *map(_listed, report.not_failed[: shown.not_failed])],
            text_output="\n".join(filter(None, (text, report.closing))),
            json_report=None,
            coverage=_coverage(report, shown.files, in_full=self.request.detail != "auto"),
        )
        return answer.model_copy(update={"omitted": self._omitted(shown, text)})

    def _test(self, failure: Failure, style: Style) -> TestResult:
        key = failure.node_id, style
        if key not in self.texts:
            self.texts[key] = TestResult(
                node_id=failure.node_id,
                outcome=failure.outcome,
                duration=failure.duration,
                message=failure.cause if style.whole_texts else grouping.line(failure.cause),
                traceback=rendering.render(failure, style),
            )
            self.left_out[key] = captured.left_out(failure, style)
        return self.texts[key]

    def _groups(self, shown: Shown) -> list[FailureGroup]:
        """Those of several failures, those that are not shown, and one line for all the others."""
        groups = self.report.groups
        lines = [
            _line(cause, index, cause.contrasting if shown.ids else None)
            if index < shown.examples
            else _line(cause, None, cause.some if shown.ids else cause.some[:1])
            for index, cause in enumerate(groups[: shown.causes])
            if cause.count > 1 or index >= shown.examples
        ]
        rest = groups[shown.causes :]
        return [*lines, *([_shared_line(rest)] if rest else [])]

    def _omitted(self, shown: Shown, text: str) -> Omitted | None:
        report = self.report
        of_tests = self._captured_left_out(shown)
        of_pytest = max(0, len(report.condensed) - len(text))
        hints = self._hints(shown, of_tests=of_tests > 0, of_pytest=of_pytest > 0)
        if not hints:
            return None
        listed = [test.outcome for test in report.not_failed[: shown.not_failed]]
        told = report.groups[: max(shown.causes, shown.examples)]
        return Omitted(
            passed=report.summary.passed - listed.count("passed"),
            skipped=report.summary.skipped - listed.count("skipped"),
            same_cause_failures=sum(len(cause.others) for cause in told) - shown.further,
            text_characters=of_tests + of_pytest,
            hint="; ".join(hints),
        )

    def _hints(self, shown: Shown, *, of_tests: bool, of_pytest: bool) -> list[str]:
        """What brings back what is left out, also of what tests and pytest have printed; none if nothing is."""
        is_auto = self.request.detail == "auto"
        unshown = shown.examples < len(self.report.groups)
        by_detail = is_auto and unshown and shown.examples == MOST_EXAMPLES
        reduced = shown.examples > 0 and replace(shown.style, captured=self.usual.captured) != self.usual
        by_capture = of_tests and not self.request.show_capture and shown.style == self.usual
        others = len(self.report.not_failed) + len(self.further)
        too_large = (
            reduced
            or (unshown and not by_detail)
            or (of_tests and not by_capture)
            or (of_pytest and not shown.text)
            or (bool(self.errors) and shown.errors < len(self.errors) - 1)
            or (not is_auto and shown.not_failed + shown.further < others)
        )
        applies = {
            BY_TOKENS: too_large,
            BY_DETAIL: by_detail,
            BY_CAPTURE: by_capture,
            BY_FULL: of_pytest and shown.text,
        }
        return [hint for hint, does in applies.items() if does]

    def _captured_left_out(self, shown: Shown) -> int:
        """In characters, of the failures that are shown."""
        if not self.report.captures:
            return 0
        examples = [cause.example for cause in self.report.groups[: shown.examples]]
        return sum(self.left_out[each.node_id, shown.style] for each in [*examples, *self.further[: shown.further]])


def _shared_line(groups: Sequence[Group]) -> FailureGroup:
    more = "1 more cause" if len(groups) == 1 else f"{len(groups)} more causes"
    return FailureGroup(
        count=sum(cause.count for cause in groups),
        message=f"{more}, the first: {groups[0].message}",
        location=grouping.files(groups),
        example=None,
        node_ids=None,
    )
