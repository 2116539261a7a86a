"""How much of an answer is sent.

Answers form a ladder, from one line for all causes to every test; the highest rung that fits is sent. So a larger
budget never shows less, and `tests` shows what `auto` does. What an example contains is an `ExampleStyle`, which
`rendering` and `frames` obey; how an answer is cut that fits on no rung is in `fitting`.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult, FailureGroup, Omitted, TestResult
from pytest_mcp.report import (
    collection_errors,
    coverage,
    fitting,
    grouping,
    rendering,
    serialize,
    timing,
    tokens,
)
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.fitting import Fits, ever_larger
from pytest_mcp.report.frames import CAPTURED, LINES, WIDTH, ExampleStyle
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import MAX_NAMED, RanTest, Report
from pytest_mcp.text import cut_middle

# How many causes have an example, or a line where that does not fit; the others share one line.
MAX_CAUSES = 20
# Longer ids, in characters, are not named beside a cause.
MAX_ID = 200
# Of more rungs, the highest that fits is searched by halves: nearly always each costs more than the one before.
MAX_TRIED = 100
# What an example may cost in an answer of so many tokens: the first one, and each of the others unless detail is tests.
# In a longer answer they may cost more, and more causes are shown.
USUAL_TOKENS = 4000
FIRST_TOKENS, SHORT_TOKENS = 600, 150
# What the first one may cost where that is too much.
LESS_TOKENS = (150, 300)
# What pytest printed is cut in its middle beyond this, except with detail full.
TEXT_CHARACTERS = 4000
# Files with lines that did not run, before further causes have examples, and in all, except with detail tests.
FIRST_FILES = 5
MAX_FILES = 20
# Rows of each part of `timing`, and with detail tests.
FIRST_ROWS = 5
MAX_ROWS = 30
# Of what had finished, in the data of an error.
PARTIAL_BYTES = 2 * 1024 * 1024

# What brings back what was left out.
BY_TOKENS = "more max_tokens, or fewer tests"
BY_DETAIL = "detail: tests"
BY_CAPTURE = "show_capture: true"
BY_FULL = "detail: full"


@dataclass(frozen=True)
class Rung:
    """How much of each part is shown."""

    causes: int = 0
    errors: int = 0
    examples: int = 0
    # What the first example may cost, and each of the others.
    tokens: int = 0
    short: int = SHORT_TOKENS
    # How much of what was captured, if that was asked for.
    captured: int | None = CAPTURED
    ids: bool = False
    text: bool = False
    further: int = 0
    not_failed: int = 0
    files: int = 0
    # How many tests of each group of `base`, and how many rows of each part of `timing`.
    named: int = 0
    timed: int = 0


def fit_execution(report: Report, request: ExecuteTests, *, ceiling: int) -> ExecuteResult:
    """What `detail` asks for, or as much of it as `max_tokens` and the ceiling in bytes leave."""
    fits = fitting.limit(request, ceiling)
    if request.detail == "full":
        for whole in _in_full(report):
            if fits(whole):
                return whole
    return _Ladder(report, request).highest(fits)


def _in_full(report: Report) -> Iterator[ExecuteResult]:
    """Every test as pytest shows it, in the order in which they ran; then without the largest parts."""
    order = {test.node_id: number for number, test in enumerate(report.tests)}
    failed = [rendering.example_in_full(failure, with_captured=report.captures) for failure in report.failures]
    tests = sorted([*failed, *map(_listed, report.not_failed)], key=lambda test: order.get(test.node_id, len(order)))
    index = {test.node_id: number for number, test in enumerate(tests)}
    answer = report.answer(
        collection_errors=report.collection_errors,
        failure_groups=[
            _cause_line(cause, index[cause.example.node_id], [other.node_id for other in cause.others])
            for cause in report.groups
        ],
        tests=tests,
        text_output=report.printed,
        json_report=report.json_report,
        coverage=report.coverage and coverage.coverage_answer(report.coverage, sys.maxsize, in_full=True),
        base=report.base.answer(report.base.largest) if report.base else None,
        timing=report.timing,
    )
    yield answer
    omitted = Omitted(passed=0, skipped=0, same_cause_failures=0, text_characters=0, hint="choose fewer tests")
    answer = answer.model_copy(update={"json_report": None, "omitted": omitted})
    yield answer
    omitted = omitted.model_copy(update={"text_characters": len(report.printed)})
    yield answer.model_copy(update={"text_output": "", "omitted": omitted})


def _listed(test: RanTest) -> TestResult:
    return TestResult(
        node_id=test.node_id,
        outcome=test.outcome,
        duration=round(test.duration, 3),
        message=test.reason,
        traceback=None,
    )


def _cause_line(cause: Group, example: int | None, node_ids: list[str] | None) -> FailureGroup:
    return FailureGroup(
        count=cause.count, message=cause.message, location=cause.location, example=example, node_ids=node_ids
    )


def _short(node_ids: Sequence[str]) -> list[str] | None:
    """Null where none is short: a list that was emptied does not look like one that is empty."""
    return [node_id for node_id in node_ids if len(node_id) <= MAX_ID] or None


def _shared_line(groups: Sequence[Group]) -> FailureGroup:
    more = "1 more cause" if len(groups) == 1 else f"{len(groups)} more causes"
    return FailureGroup(
        count=sum(cause.count for cause in groups),
        message=f"{more}, the first: {groups[0].message}",
        location=grouping.by_file(groups),
        example=None,
        node_ids=None,
    )


class _Example(NamedTuple):
    """A failed test as it is shown, and how many characters of its texts and of what was captured are left out."""

    test: TestResult
    text: int
    captured: int


class _Ladder:
    """The rungs of one report. The answer of each is made when it is tried."""

    def __init__(self, report: Report, request: ExecuteTests) -> None:
        self.report = report
        self.request = request
        self.errors = list(collection_errors.ever_more(report.collection_errors))
        examples = {cause.example.node_id for cause in report.groups}
        self.further = [failure for failure in report.failures if failure.node_id not in examples]
        # The example that is the first to have the statement of a place; all are shown in this order.
        in_order = [*(cause.example for cause in report.groups), *self.further]
        stated = [(place, failure.node_id) for failure in in_order for place in rendering.stated_places(failure)]
        self.stated_by = dict(reversed(stated))
        self.scale = max(1.0, (request.max_tokens or request.default_max_tokens) / USUAL_TOKENS)
        self.usual = ExampleStyle(
            captured=CAPTURED if report.captures else 0,
            variables=report.locals,
            lines=round(LINES * self.scale),
            width=round(WIDTH * self.scale),
        )
        self.causes = min(round(MAX_CAUSES * self.scale), len(report.groups))
        gaps = coverage.files_with_gaps(report.coverage)
        self.files = ever_larger(gaps if request.detail == "tests" else min(gaps, MAX_FILES))
        groups = report.base.largest if report.base else 0
        self.named = ever_larger(groups if request.detail == "tests" else min(groups, MAX_NAMED))
        self.timed = ever_larger((MAX_ROWS if request.detail == "tests" else FIRST_ROWS) if report.timing else 0)
        self.examples: dict[tuple[str, int, int | None], _Example] = {}

    def highest(self, fits: Fits) -> ExecuteResult:
        *lower, top = self.rungs()
        if fits(self.answer(top)):
            rungs = self._with_every_test(top)
            return fitting.largest(len(rungs) - 1, lambda number: self.answer(rungs[number]), fits)
        if len(lower) > MAX_TRIED:
            answer = fitting.largest(len(lower) - 1, lambda number: self.answer(lower[number]), fits)
            return answer if fits(answer) else fitting.smallest(answer, fits)
        for rung in reversed(lower):
            if fits(answer := self.answer(rung)):
                return answer
        return fitting.smallest(self.answer(lower[0]), fits)

    def rungs(self) -> Iterator[Rung]:
        """From the least to what `auto` shows when everything fits. Each adds to the one before."""
        groups, others = self.report.groups, len(self.report.not_failed)
        steps: list[dict[str, Any]] = [{"causes": number} for number in range(min(1, self.causes) + 1)]
        steps += [{"errors": level} for level in range(1, len(self.errors))]
        steps += [{"examples": 1}] if groups else []
        steps += [{"causes": number} for number in range(2, self.causes + 1)]
        steps += [{"tokens": most} for most in (*LESS_TOKENS, round(FIRST_TOKENS * self.scale))] if groups else []
        steps += [{"ids": True}]
        steps += [{"named": number} for number in self.named]
        steps += [{"timed": number} for number in self.timed]
        steps += [{"files": number} for number in self.files if number <= FIRST_FILES]
        steps += [{"examples": number} for number in range(2, self.causes + 1)]
        steps += [{"text": True}]
        # Who stops at the first failure wants to see that one.
        is_one_wanted = self.request.failfast and bool(groups)
        steps += [{"not_failed": others}] if others <= LISTED_WITHOUT_FAILURE and not is_one_wanted else []
        steps += [{"files": number} for number in self.files if number > FIRST_FILES]
        steps += [{"captured": characters} for characters in self._more_captured()]
        rung = Rung()
        for step in steps:
            rung = replace(rung, **step)
            yield rung

    def _more_captured(self) -> list[int | None]:
        """Ever more of what was captured, then all of it as it was written, if that was asked for."""
        if not self.request.show_capture:
            return []
        longest = max(
            (len(each) for cause in self.report.groups for each in rendering.captured_contents(cause.example)),
            default=0,
        )
        return [*(number for number in ever_larger(longest) if number > CAPTURED), None]

    def _with_every_test(self, top: Rung) -> list[Rung]:
        """With detail tests: every further cause and failure, then every other test."""
        if self.request.detail == "auto":
            return [top]
        examples = range(top.examples + 1, len(self.report.groups) + 1)
        others = range(top.not_failed + 1, len(self.report.not_failed) + 1)
        rungs = [top, replace(top, short=FIRST_TOKENS)]
        rungs += [replace(rungs[-1], causes=max(top.causes, number), examples=number) for number in examples]
        rungs += [replace(rungs[-1], further=number) for number in range(1, len(self.further) + 1)]
        rungs += [replace(rungs[-1], not_failed=number) for number in others]
        return rungs

    def answer(self, rung: Rung) -> ExecuteResult:
        report = self.report
        text = cut_middle(report.condensed, TEXT_CHARACTERS) if rung.text else ""
        shown = [*(cause.example for cause in report.groups[: rung.examples]), *self.further[: rung.further]]
        failed = [self._example(failure, rung, is_first=not number) for number, failure in enumerate(shown)]
        return report.answer(
            collection_errors=self.errors[rung.errors] if self.errors else [],
            failure_groups=self._cause_lines(rung),
            tests=[*(each.test for each in failed), *map(_listed, report.not_failed[: rung.not_failed])],
            text_output="\n".join(filter(None, (text, report.closing))),
            json_report=None,
            coverage=report.coverage
            and coverage.coverage_answer(report.coverage, rung.files, in_full=self.request.detail != "auto"),
            base=report.base.answer(rung.named) if report.base else None,
            timing=timing.first_rows(report.timing, rung.timed) if report.timing else None,
            omitted=self._omitted(rung, failed, of_pytest=max(0, len(report.condensed) - len(text))),
        )

    def _example(self, failure: Failure, rung: Rung, *, is_first: bool) -> _Example:
        """The longest one that costs no more than it may."""
        most = rung.tokens if is_first else min(rung.tokens, round(rung.short * self.scale))
        style = self.usual if is_first or rung.short > SHORT_TOKENS else self.usual.short
        above = (place for place in rendering.stated_places(failure) if self.stated_by[place] != failure.node_id)
        style = replace(style, stated_above=frozenset(above))
        key = failure.node_id, most, rung.captured
        if key not in self.examples:
            self.examples[key] = self._fitted(failure, style, most, rung.captured)
        return self.examples[key]

    def _fitted(self, failure: Failure, style: ExampleStyle, most: int, characters: int | None) -> _Example:
        for each in style.reduced():
            shown, chosen = rendering.example(failure, each), each
            if tokens.estimate(serialize.line(shown.model_dump())) <= most:
                break
        if characters != CAPTURED:
            chosen = replace(chosen, captured=characters)
            shown = rendering.example(failure, chosen)
        of_captured = rendering.captured_left_out(failure, chosen) if self.report.captures else 0
        return _Example(shown, rendering.characters_left_out(failure, chosen), of_captured)

    def _cause_lines(self, rung: Rung) -> list[FailureGroup]:
        """Those of several failures, those that are not shown, and one line for all the others."""
        groups = self.report.groups
        lines = [
            _cause_line(cause, index, _short(cause.contrasting) if rung.ids else None)
            if index < rung.examples
            else _cause_line(cause, None, _short(cause.some if rung.ids else cause.some[:1]))
            for index, cause in enumerate(groups[: rung.causes])
            if cause.count > 1 or index >= rung.examples
        ]
        rest = groups[rung.causes :]
        return [*lines, *([_shared_line(rest)] if rest else [])]

    def _omitted(self, rung: Rung, failed: Sequence[_Example], *, of_pytest: int) -> Omitted | None:
        """`of_pytest`: how many characters of what pytest has printed are left out."""
        report = self.report
        of_texts, of_captured = sum(each.text for each in failed), sum(each.captured for each in failed)
        hints = self._hints(rung, of_texts, of_captured, of_pytest)
        if not hints:
            return None
        listed = [test.outcome for test in report.not_failed[: rung.not_failed]]
        named = report.groups[: max(rung.causes, rung.examples)]
        return Omitted(
            passed=report.summary.passed - listed.count("passed"),
            skipped=report.summary.skipped - listed.count("skipped"),
            same_cause_failures=sum(len(cause.others) for cause in named) - rung.further,
            text_characters=of_texts + of_captured + of_pytest,
            hint="; ".join(hints),
        )

    def _hints(self, rung: Rung, of_texts: int, of_captured: int, of_pytest: int) -> list[str]:
        """The parameters that bring back what this rung does not show."""
        report, is_auto = self.report, self.request.detail == "auto"
        # Where the budget leaves room, `auto` shows no more causes than these.
        is_at_most = is_auto and rung.examples == self.causes
        lacks_causes = rung.examples < len(report.groups)
        lacks_tests = rung.not_failed + rung.further < len(report.not_failed) + len(self.further)
        is_captured_by_tokens = bool(self.request.show_capture)
        needed = {
            BY_TOKENS: of_texts
            or (lacks_causes and not is_at_most)
            or rung.errors < len(self.errors) - 1
            or (lacks_tests and not is_auto)
            or (of_captured and is_captured_by_tokens)
            or (of_pytest and not rung.text),
            BY_DETAIL: lacks_causes and is_at_most,
            BY_CAPTURE: of_captured and not is_captured_by_tokens,
            BY_FULL: of_pytest and rung.text,
        }
        return [hint for hint, is_needed in needed.items() if is_needed]
