"""Whether the reports of shards are those of all shards of one suite, and the one report for all of them.

Pure. It is `passed` only if nothing is wrong with them and each shard passed or is empty by division. Every report
counts, except a second one of the same shard.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_mcp.report import merge
from pytest_mcp.report.merge import Part
from pytest_mcp.report.report import Report
from pytest_mcp.report.shard import ShardFacts
from pytest_mcp.text import few, in_line, span


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


def merged(given: Sequence[ShardGiven]) -> Report:
    counted = _once_each(given)
    problems = [*_refused(given), *_missing(counted), *_repeated(given), *_unfinished(counted), *_differences(counted)]
    parts = [Part(each.label, each.report) for each in counted if each.report is not None]
    empty = [part.report for part in parts if part.report.verdict == "no_tests"]
    return merge.merge(
        parts,
        [*problems, *_durations(parts)],
        one_is_missing=bool(problems),
        may_be_empty=all(report.is_empty_share for report in empty),
    )


def _once_each(given: Sequence[ShardGiven]) -> list[ShardGiven]:
    """The first report of each shard, in the order of the shards."""
    first: dict[tuple[int, int], ShardGiven] = {}
    for each in given:
        if each.shard is not None:
            first.setdefault((each.shard.count, each.shard.index), each)
    return [first[place] for place in sorted(first)]


def _refused(given: Sequence[ShardGiven]) -> Iterator[str]:
    for each in given:
        if each.refusal is not None:
            yield f"{each.label} {each.refusal}."


def _missing(counted: Sequence[ShardGiven]) -> Iterator[str]:
    known = [each.shard for each in counted if each.shard is not None]
    count = _usual([facts.count for facts in known]) or 1
    there = {facts.index for facts in known if facts.count == count}
    missing = [str(index) for index in range(1, count + 1) if index not in there]
    if missing:
        yield f"{len(missing)} of {count} shards are missing: {few(missing)}."


def _repeated(given: Sequence[ShardGiven]) -> Iterator[str]:
    files: dict[tuple[int, int], list[str]] = {}
    for each in given:
        if each.shard is not None:
            files.setdefault((each.shard.count, each.shard.index), []).append(each.file)
    for (count, index), names in sorted(files.items()):
        if len(names) > 1:
            yield f"Shard {index} of {count} is there {len(names)} times; the first counts: {few(map(in_line, names))}."


def _unfinished(counted: Sequence[ShardGiven]) -> Iterator[str]:
    for each in counted:
        if each.report is not None and each.report.problem is not None:
            why = in_line(each.report.problem.message.partition("\n")[0])
            yield f"{each.label} did not finish: {why.rstrip('.')}."
        elif each.report is not None and each.report.verdict == "incomplete":
            yield f"{each.label} is incomplete."


def _differences(counted: Sequence[ShardGiven]) -> Iterator[str]:
    """One sentence for each shard that differs from most of the others."""
    finished = [(each, each.shard) for each in counted if each.shard and each.report and not each.report.problem]
    for value, sentence in _COMMON:
        usual = _usual([value(facts) for _, facts in finished])
        like = [facts for _, facts in finished if value(facts) == usual]
        for each, facts in finished:
            if value(facts) != usual:
                yield f"{each.label} {sentence(facts, like[0])}."


def _durations(parts: Sequence[Part]) -> list[str]:
    timed = [(part.report.duration, part.label) for part in parts]
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
