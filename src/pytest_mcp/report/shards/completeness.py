"""Whether the answers are those of all shards of one suite.

Pure: answers in, one sentence for each thing that is wrong out; none if nothing is. What the answers say together is
put together in `merge`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pytest_mcp.api.results import ShardFacts
from pytest_mcp.report.shards.answers import Answer
from pytest_mcp.text import few, in_line


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


def once_each(answers: Sequence[Answer]) -> list[Answer]:
    """The first answer of each shard, and all that do not say which they are, in the order of the shards."""
    first: dict[object, Answer] = {}
    for number, answer in enumerate(answers):
        first.setdefault(_place(answer) or number, answer)
    return sorted(first.values(), key=lambda answer: (answer.facts is None, _place(answer) or (0, 0)))


def problems(answers: Sequence[Answer]) -> list[str]:
    counted = once_each(answers)
    return [*_missing(counted), *_repeated(answers), *_unfinished(counted), *_differences(counted)]


def _place(answer: Answer) -> tuple[int, int] | None:
    return None if answer.facts is None else (answer.facts.count, answer.facts.index)


def _missing(counted: Sequence[Answer]) -> Iterator[str]:
    known = [answer.facts for answer in counted if answer.facts is not None]
    count = _usual([facts.count for facts in known]) or 1
    there = {facts.index for facts in known if facts.count == count}
    missing = [str(index) for index in range(1, count + 1) if index not in there]
    if missing:
        yield f"{len(missing)} of {count} shards are missing: {few(missing)}."


def _repeated(answers: Sequence[Answer]) -> Iterator[str]:
    names: dict[tuple[int, int], list[str]] = {}
    for answer in answers:
        if (place := _place(answer)) is not None:
            names.setdefault(place, []).append(answer.name)
    for (count, index), given in sorted(names.items()):
        if len(given) > 1:
            yield f"Shard {index} of {count} is there {len(given)} times; the first counts: {few(map(in_line, given))}."


def _unfinished(counted: Sequence[Answer]) -> Iterator[str]:
    for answer in counted:
        if answer.problem is not None:
            yield f"{answer.label} did not finish: {in_line(answer.problem).rstrip('.')}."
        elif answer.result is not None and answer.result.verdict == "incomplete":
            yield f"{answer.label} is incomplete."


def _differences(counted: Sequence[Answer]) -> Iterator[str]:
    """One sentence for each shard that differs from most of the others."""
    finished = [(answer, answer.facts) for answer in counted if answer.facts is not None and answer.problem is None]
    for value, sentence in _COMMON:
        usual = _usual([value(facts) for _, facts in finished])
        like = [facts for _, facts in finished if value(facts) == usual]
        for answer, facts in finished:
            if value(facts) != usual:
                yield f"{answer.label} {sentence(facts, like[0])}."


def _commit(facts: ShardFacts) -> str:
    return f"commit {in_line(facts.commit)}" if facts.commit else "no known commit"


def _usual(values: Sequence[Any]) -> Any:
    """The most frequent one, of several the first."""
    return Counter(values).most_common(1)[0][0] if values else None
