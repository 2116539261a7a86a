"""The reports of shards: each as a line of JSON, which `run --shard --json` prints, and the one report for all.

Whoever has the file may have changed it: a text that is not the report of a shard, or that contradicts itself, is
refused with one sentence. All together are `passed` only if nothing is wrong with them and each shard passed or is
empty by division. Every report counts, except a second one of the same shard.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from pytest_mcp.report import serialize
from pytest_mcp.report.merge import LabelledReport, merge
from pytest_mcp.report.report import Report
from pytest_mcp.report.shard_facts import ShardFacts
from pytest_mcp.text import few, in_line, span

# Of the file; in another one the same keys may mean something else.
FORMAT = 2
_WHAT_TO_GIVE = "pass what `pytest-mcp run --shard K/N --json` prints"


class NotAReport(Exception):
    """A text that is not the report of a shard; the message says why."""


@cache
def _schema() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def to_json(report: Report) -> str:
    """For readers verdict and summary stand first; they follow from the rest."""
    head = {"format": FORMAT, "verdict": report.verdict, "summary": report.summary.model_dump()}
    return serialize.line(serialize.safe(head | _schema().dump_python(replace(report, json_report=None), mode="json")))


def parse(text: str) -> Report:
    content = _object(text)
    given, verdict, summary = content.get("format"), content.get("verdict"), content.get("summary")
    if verdict is None or summary is None:
        raise NotAReport(f"is no report of pytest-mcp; {_WHAT_TO_GIVE}")
    if given is None or content.get("shard") is None:
        raise NotAReport(f"is of a run without --shard, or of an older pytest-mcp; {_WHAT_TO_GIVE}")
    if given != FORMAT:
        raise NotAReport(f"has the format {in_line(str(given))}, known is {FORMAT}; use one version of pytest-mcp")
    try:
        report = _schema().validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = in_line(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        raise NotAReport(f"is no complete report of a shard: {what}") from error
    wrong = contradiction(report)
    if wrong is None and (verdict, summary) != (report.verdict, report.summary.model_dump()):
        wrong = "its verdict and counts are not those of its tests"
    if wrong is not None:
        raise NotAReport(f"contradicts itself: {wrong}")
    return report


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotAReport(f"is not JSON: {in_line(str(error))}") from error
    return content if isinstance(content, dict) else {}


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{in_line(number)} is not a number")
    return value


def contradiction(report: Report) -> str | None:
    """What no run can have written, if there is something."""
    shard, evidence, code = report.shard, report.evidence, report.exit_code
    assert shard is not None
    names = [test.node_id for test in report.tests]
    failed = sorted(test.node_id for test in report.tests if test.outcome in ("failed", "error"))
    is_whole = not (evidence.has_no_result or evidence.is_unfinished)
    ran_all = is_whole and not evidence.has_failed and not evidence.has_missed
    explains = evidence.has_failed or evidence.has_bad_exit or evidence.is_empty
    wrong = {
        f"it is shard {shard.index} of {shard.count}": shard.index > shard.count,
        "its tests are not those that failed": failed != sorted(failure.node_id for failure in report.failures),
        "its evidence and its failures differ": evidence.has_failed != bool(failed or report.collection_errors),
        "only one of its problem and its exit code can be there": (report.problem is None) == (code is None),
        "only a run with a problem has no result": evidence.has_no_result != (code is None),
        f"nothing in it explains the exit code {code}": code not in (0, None) and not explains,
        "its exit code says passed, and its failures do not": code == 0 and evidence.has_failed,
        "a test is in it twice": len(set(names)) < len(names),
        "it has tests, and none was selected": evidence.is_empty and bool(names),
        "it does not say how the suite was divided": is_whole and None in (shard.division, shard.tests, shard.total),
        "its share is larger than the suite": (shard.tests or 0) > (shard.total or 0),
        f"it has {len(names)} tests, and its share is {shard.tests}": ran_all and len(names) < (shard.tests or 0),
    }
    return next((sentence for sentence, holds in wrong.items() if holds), None)


@dataclass(frozen=True)
class ShardGiven:
    """The report of a shard, or why there is none, with the file that it was read from."""

    file: str
    report: Report | None = None
    refusal: str | None = None

    @property
    def shard(self) -> ShardFacts | None:
        return self.report.shard if self.report else None

    @property
    def label(self) -> str:
        name = in_line(self.file)
        return name if self.shard is None else f"{self.shard.name} ({name})"


class _Reported(NamedTuple):
    label: str
    facts: ShardFacts
    report: Report


class _Common(NamedTuple):
    """What all shards must have in common, and what is said of one that differs from most others."""

    value: Callable[[ShardFacts], object]
    sentence: Callable[[ShardFacts, ShardFacts], str]


_COMMON = (
    _Common(lambda facts: facts.count, lambda own, most: f"is one of {own.count} shards, most others of {most.count}"),
    _Common(lambda facts: facts.commit, lambda own, most: f"is of {_commit(own)}, most others are of {_commit(most)}"),
    _Common(lambda facts: facts.selection, lambda *_: "ran another selection of tests than most others"),
    _Common(
        lambda facts: facts.division,
        lambda own, most: f"divided other tests ({own.total} in all) than most others ({most.total} in all)",
    ),
)


def merged_shards(given: Sequence[ShardGiven]) -> Report:
    by_place: dict[tuple[int, int], list[ShardGiven]] = {}
    for each in given:
        if each.shard is not None:
            by_place.setdefault((each.shard.count, each.shard.index), []).append(each)
    # The first report of each shard, in the order of the shards.
    firsts = [by_place[place][0] for place in sorted(by_place)]
    counted = [_Reported(each.label, each.shard, each.report) for each in firsts if each.shard and each.report]
    refused = [f"{each.label} {each.refusal}." for each in given if each.refusal is not None]
    problems = [*refused, *_missing(counted), *_repeated(by_place), *_unfinished(counted), *_differences(counted)]
    empty = [each.report for each in counted if each.report.verdict == "no_tests"]
    return merge(
        [LabelledReport(each.label, each.report) for each in counted],
        [*problems, *_durations(counted)],
        one_is_missing=bool(problems) or not counted,
        may_be_empty=all(report.is_empty_share for report in empty),
    )


def _missing(counted: Sequence[_Reported]) -> Iterator[str]:
    count = _usual([each.facts.count for each in counted]) or 0
    there = {each.facts.index for each in counted if each.facts.count == count}
    missing = [str(index) for index in range(1, count + 1) if index not in there]
    if missing:
        yield f"{len(missing)} of {count} shards are missing: {few(missing)}."


def _repeated(by_place: dict[tuple[int, int], list[ShardGiven]]) -> Iterator[str]:
    for (count, index), same in sorted(by_place.items(), key=lambda entry: entry[0]):
        if len(same) > 1:
            names = few(in_line(each.file) for each in same)
            yield f"Shard {index} of {count} is there {len(same)} times; the first counts: {names}."


def _unfinished(counted: Sequence[_Reported]) -> Iterator[str]:
    for label, _, report in counted:
        if report.problem is not None:
            why = in_line(report.problem.message.partition("\n")[0])
            yield f"{label} did not finish: {why.rstrip('.')}."
        elif report.verdict == "incomplete":
            yield f"{label} is incomplete."


def _differences(counted: Sequence[_Reported]) -> Iterator[str]:
    """One sentence for each shard that differs from most of the others."""
    finished = [each for each in counted if not each.report.problem]
    for value, sentence in _COMMON:
        usual = _usual([value(each.facts) for each in finished])
        like = [each.facts for each in finished if value(each.facts) == usual]
        for each in finished:
            if value(each.facts) != usual:
                yield f"{each.label} {sentence(each.facts, like[0])}."


def _durations(counted: Sequence[_Reported]) -> list[str]:
    timed = [(each.report.duration, each.label) for each in counted]
    if len(timed) < 2:
        return []
    longest, label = max(timed)
    total = span(sum(seconds for seconds, _ in timed))
    return [f"{len(timed)} shards took {total} together; the longest was {label} with {span(longest)}."]


def _commit(facts: ShardFacts) -> str:
    return f"commit {in_line(facts.commit)}" if facts.commit else "no known commit"


def _usual(values: Sequence[Any]) -> Any:
    """The most frequent one, of several the first."""
    return Counter(values).most_common(1)[0][0] if values else None
