"""The answers of all shards become one answer.

Pure. It is `passed` only if nothing is wrong with the answers (`completeness`) and each shard passed or is empty by
division. Every answer counts, except a second one of the same shard. Which failures have one cause is decided in
`causes`. `folded` is the part that does not depend on why there are several answers.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from pytest_mcp.api.requests import Detail
from pytest_mcp.api.results import (
    LISTED_WITHOUT_FAILURE,
    CollectionError,
    ExecuteResult,
    FailureGroup,
    Omitted,
    ShardResult,
    Summary,
    TestResult,
    Verdict,
)
from pytest_mcp.report import collection_errors, pytest_output, rerun, verdict
from pytest_mcp.report.shards import causes, completeness
from pytest_mcp.report.shards.answers import Answer
from pytest_mcp.text import cut_middle, few, span

# How many notices of the shards themselves are repeated.
MOST_NOTICES = 20
TEXT_CHARACTERS = 4_000
HINT = "the answers of the shards show more"


def merged(answers: Sequence[Answer]) -> ExecuteResult:
    counted = completeness.once_each(answers)
    problems = completeness.problems(answers)
    results = results_of(counted)
    by_division = all(_is_empty(result) for result in results if result.verdict == "no_tests")
    evidence = verdict.of_parts(results, one_is_missing=bool(problems), may_be_empty=by_division)
    return folded(counted, verdict.verdict_of(evidence), [*problems, *_durations(counted), *_notices(counted)])


def folded(counted: Sequence[Answer], judged: Verdict, notices: list[str], detail: Detail = "auto") -> ExecuteResult:
    """One answer for all. Unless `detail` is auto, every test that one of them lists is listed."""
    results = results_of(counted)
    errors = _collection_errors(results)
    summary = _summary(results, errors)
    groups, failed = causes.told(results)
    text = _text(counted, whole=detail == "full")
    most = len(text) if detail == "full" else TEXT_CHARACTERS
    others = _without_failure(results, summary) if detail == "auto" else _others(results, failed)
    return ExecuteResult(
        verdict=judged,
        exit_code=verdict.NO_TESTS_COLLECTED if judged == "no_tests" else _exit_code(results),
        summary=summary,
        notices=notices,
        collection_errors=errors,
        failure_groups=groups,
        tests=[*failed, *others],
        rerun=_rerun(results),
        text_output=cut_middle(text, most),
        json_report=None,
        omitted=_omitted(results, groups, max(0, len(text) - most)),
    )


def results_of(answers: Sequence[Answer]) -> list[ExecuteResult]:
    return [answer.result for answer in answers if answer.result is not None]


def _is_empty(result: ExecuteResult) -> bool:
    return isinstance(result, ShardResult) and result.is_empty_share


def _exit_code(results: Sequence[ExecuteResult]) -> int:
    """The highest of pytest's, without those of shards that have no tests or were cut short."""
    none = (None, verdict.NO_TESTS_COLLECTED)
    return max((result.exit_code for result in results if result.exit_code not in none), default=0)


def _summary(results: Sequence[ExecuteResult], errors: Sequence[CollectionError]) -> Summary:
    """Every shard imports every file, so what cannot be collected, or skips itself, is counted once."""
    modules = [result.shard.skipped_modules for result in results if isinstance(result, ShardResult)]
    skipped = sum(result.summary.skipped for result in results) - sum(modules) + max(modules, default=0)
    failed_setups = sum(result.summary.errors - _files(result.collection_errors) for result in results)
    passed = sum(result.summary.passed for result in results)
    failed = sum(result.summary.failed for result in results)
    return Summary(
        total=passed + failed + skipped + failed_setups + _files(errors),
        passed=passed,
        failed=failed,
        skipped=skipped,
        errors=failed_setups + _files(errors),
        duration=round(sum(result.summary.duration for result in results), 3),
    )


def _files(errors: Sequence[CollectionError]) -> int:
    return sum(1 + error.also for error in errors)


def _collection_errors(results: Sequence[ExecuteResult]) -> list[CollectionError]:
    """Every shard tells the same ones; of each the most that any shard says."""
    found: dict[str, CollectionError] = {}
    for error in (error for result in results for error in result.collection_errors):
        if error.file not in found or found[error.file].also < error.also:
            found[error.file] = error
    return collection_errors.one_for_each_cause(list(found.values()))


def _durations(counted: Sequence[Answer]) -> list[str]:
    timed = [(answer.result.summary.duration, answer.label) for answer in counted if answer.result is not None]
    if len(timed) < 2:
        return []
    longest, label = max(timed)
    total = span(sum(seconds for seconds, _ in timed))
    return [f"{len(timed)} shards took {total} together; the longest was {label} with {span(longest)}."]


def _notices(counted: Sequence[Answer]) -> list[str]:
    """Those of the shards, each once, without the ones on their shares."""
    shards: dict[str, list[str]] = {}
    for answer in counted:
        for notice in answer.result.notices if answer.result is not None else ():
            if answer.facts is None or not notice.startswith(f"shard {answer.facts.index} of {answer.facts.count}: "):
                shards.setdefault(notice, []).append(answer.label if answer.facts is None else str(answer.facts.index))
    told = first_notices({notice: [f"Shard {few(numbers)}"] for notice, numbers in shards.items()})
    more = len(shards) - MOST_NOTICES
    return [*told, *([f"{more} more notices are in the answers of the shards."] if more > 0 else [])]


def first_notices(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Notices, each with who said it."""
    return [f"{few(labels)}: {notice}" for notice, labels in islice(said.items(), MOST_NOTICES)]


def _without_failure(results: Sequence[ExecuteResult], summary: Summary) -> list[TestResult]:
    """If they are few, as in the answer of one run."""
    listed = {
        test.node_id: test for result in results for test in result.tests if test.outcome in ("passed", "skipped")
    }
    return list(listed.values()) if summary.passed + summary.skipped <= LISTED_WITHOUT_FAILURE else []


def _others(results: Sequence[ExecuteResult], failed: Sequence[TestResult]) -> list[TestResult]:
    """The tests that the answers list, without these."""
    shown = {test.node_id for test in failed}
    return [test for result in results for test in result.tests if test.node_id not in shown]


def _text(counted: Sequence[Answer], *, whole: bool) -> str:
    """What pytest printed, each text once; unless whole, without the closing lines: they count one answer each."""
    texts: dict[str, list[str]] = {}
    for answer in counted:
        printed = answer.result.text_output if answer.result is not None else ""
        if text := printed if whole else pytest_output.condense(printed):
            texts.setdefault(text, []).append(answer.label)
    return "\n\n".join(f"{few(labels)}:\n{text}" for text, labels in texts.items())


def _rerun(results: Sequence[ExecuteResult]) -> rerun.Arguments | None:
    """What covers the failures of all shards; the same selection again if one of them cannot name its failures."""
    asked = [result.rerun for result in results if result.rerun is not None]
    named = [rerun.names(each) for each in asked]
    for arguments, names in zip(asked, named, strict=True):
        if not names:
            return arguments
    return rerun.covering([name for names in named for name in names], asked[0].get("pattern")) if asked else None


def _omitted(results: Sequence[ExecuteResult], groups: Sequence[FailureGroup], characters: int) -> Omitted | None:
    """`characters` of the text are cut."""
    cut = [result.omitted for result in results if result.omitted is not None]
    unshown = sum(group.count for group in groups if group.example is None)
    if not cut and not characters and not unshown:
        return None
    return Omitted(
        passed=sum(each.passed for each in cut),
        skipped=sum(each.skipped for each in cut),
        same_cause_failures=sum(group.count - 1 for group in groups if group.example is not None) + unshown,
        text_characters=sum(each.text_characters for each in cut) + characters,
        hint=HINT,
    )
