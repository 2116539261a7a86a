"""The key `timing` of an answer: where the time of a run went, and what would save most of it.

The processes of one run report their own times. What workers of pytest-xdist do at the same time, before their tests,
counts once; their tests are added up, as those of several runs are.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import takewhile
from operator import add
from typing import Any, NamedTuple, TypeVar

from pytest_mcp.api.results import FixtureTime, Shape, Spent, TestTime, Timing
from pytest_mcp.report import places
from pytest_mcp.run.events import Timed
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.text import label, span

BEFORE_TESTS = ("start", "imports", "collection")
# What is in none of the parts: other plugins, reporting.
OTHER = "other"
# The rows of each list.
KINDS: dict[str, type[Shape]] = {
    "imports": Spent,
    "collection": Spent,
    "fixtures": FixtureTime,
    "tests": TestTime,
    "functions": Spent,
    "sleeps": Spent,
}
# How many rows are kept of each list, and how many seconds a row has at least.
KEPT = 300
LEAST = 0.001
# Of causes that take nearly as long as the longest one the first is named: the others lie in it, or it in them.
NEARLY = 0.8
# What pytest itself does between two tests, and in a phase besides fixtures, takes less than this.
OF_PYTEST = 0.002
# What none of the rows of a part explains.
RESTS = {
    "start": "what runs before the session (plugins, conftest files)",
    "collection": "collecting",
    "setup": "what runs before each test, besides fixtures,",
    "teardown": "what runs after each test, besides fixtures,",
    OTHER: "what runs between tests (hooks, plugins)",
}
# What takes less than this part of a run does not stand out.
LEAST_SHARE = 0.1

# What each list is about, for people.
TITLES: dict[str, str] = {
    "parts": "Parts of the run",
    "fixtures": "Fixtures",
    "tests": "Slowest tests",
    "functions": "Tests with many parameters",
    "sleeps": "Waiting in time.sleep",
    "imports": "Imports",
    "collection": "Collection",
}

Row = TypeVar("Row", bound=Shape)
# How two numbers of seconds, or of calls, become one.
Join = Callable[[Any, Any], Any]
# Seconds, and the sentence about them.
Candidate = tuple[float, str]


def timing_of(ledger: Ledger) -> Timing | None:
    """None if the run did not get as far as to report it."""
    if not ledger.timed:
        return None
    first, *workers = [_timing(timed) for timed in sorted(ledger.timed, key=lambda timed: timed.worker)]
    first = first.model_copy(update={"functions": _functions(ledger)})
    return _joined([first, *workers], max, workers=len(workers)) if workers else _joined([_with_rest(first)], add)


def _functions(ledger: Ledger) -> list[Spent]:
    """Those with several sets of parameters."""
    seconds: dict[str, list[float]] = {}
    for test in ledger.tests.values():
        if test.node_id.endswith("]"):
            seconds.setdefault(test.node_id.partition("[")[0], []).append(test.duration)
    return [Spent(name=name, seconds=sum(each), calls=len(each)) for name, each in seconds.items()]


def merged_timing(parts: Sequence[Timing]) -> Timing | None:
    """Of runs one after the other, or on several machines."""
    return _joined(parts, add, workers=sum(part.workers for part in parts)) if parts else None


def first_rows(timing: Timing, number: int) -> Timing:
    return timing.model_copy(update={kind: getattr(timing, kind)[:number] for kind in KINDS})


class Bar(NamedTuple):
    """A row for people, and what to say beside its seconds."""

    name: str
    seconds: float
    note: str


def chart(timing: Timing, kind: str) -> list[Bar]:
    rows = [row for row in getattr(timing, kind) if cost(row) >= LEAST]
    return [Bar(" ".join(filter(None, _subject(row))), cost(row), _note(row)) for row in rows]


def _subject(row: Shape) -> tuple[str, ...]:
    """The texts that it begins with: what it is about."""
    return tuple(takewhile(_is_text, dict(row).values()))


def _note(row: Shape) -> str:
    values = dict(row)
    times = [f"{values['calls']:,}x"] if values.get("calls", 1) > 1 else []
    seconds = {name: value for name, value in values.items() if isinstance(value, float) and name != "seconds"}
    return ", ".join([*times, *(f"{name} {span(value)}" for name, value in seconds.items() if value >= LEAST)])


def _timing(timed: Timed) -> Timing:
    rows: dict[str, Any] = {kind: _shaped(shape, getattr(timed, kind, ())) for kind, shape in KINDS.items()}
    rows["fixtures"] = [row.model_copy(update={"place": places.short(row.place)}) for row in rows["fixtures"]]
    parts = _shaped(Spent, timed.parts)
    return Timing(saving="", seconds=timed.seconds, before_tests=timed.before, workers=0, parts=parts, **rows)


def _shaped(shape: type[Row], rows: Sequence[Sequence[Any]]) -> list[Row]:
    return [shape(**dict(zip(shape.model_fields, row, strict=True))) for row in rows]


def _with_rest(timing: Timing) -> Timing:
    rest = max(0.0, timing.seconds - sum(part.seconds for part in timing.parts))
    return timing.model_copy(update={"parts": [*timing.parts, Spent(name=OTHER, seconds=rest, calls=1)]})


def _joined(parts: Sequence[Timing], before_tests: Join, *, workers: int = 0) -> Timing:
    """`before_tests` joins what several of them did before their tests."""

    def joined(kind: str, join: Join) -> list[Any]:
        return _joined_rows([row for part in parts for row in getattr(part, kind)], join)

    def listed(kind: str) -> list[Any]:
        rows = joined(kind, before_tests if kind in BEFORE_TESTS else add)
        return sorted((row for row in rows if cost(row) >= LEAST), key=cost, reverse=True)[:KEPT]

    at_start = {row.name: row for row in joined("parts", before_tests) if row.name in BEFORE_TESTS}
    whole = parts[0].model_copy(
        update={
            "seconds": round(reduce(before_tests, [part.seconds for part in parts]), 3),
            "before_tests": round(reduce(before_tests, [part.before_tests for part in parts]), 3),
            "workers": workers,
            "parts": [at_start.get(row.name, row) for row in joined("parts", add)],
            **{kind: listed(kind) for kind in KINDS},
        }
    )
    return whole.model_copy(update={"saving": _saving(whole)})


def _joined_rows(rows: Sequence[Any], join: Join) -> list[Any]:
    """Those that begin with the same texts are about the same. Of other texts the first one is kept."""
    known: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        values = dict(row)
        same = known.setdefault(_subject(row), {})
        for name, value in values.items():
            same[name] = same.get(name, value) if _is_text(value) else join(same.get(name, 0), value)
    rounded = ({name: _rounded(value) for name, value in values.items()} for values in known.values())
    return [type(rows[0]).model_validate(values) for values in rounded]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def cost(row: Any) -> float:
    """All seconds of a row."""
    return sum(getattr(row, name, 0.0) for name in ("seconds", "setup", "call", "teardown"))


# --- the largest saving --------------------------------------------------------------------------


def _saving(timing: Timing) -> str:
    whole = sum(part.seconds for part in timing.parts)
    of = f"of {span(whole)}" + (f" of {timing.workers} workers together" if timing.workers else "")
    candidates = list(_candidates(timing, of))
    largest = max((seconds for seconds, _ in candidates), default=0.0)
    if largest >= LEAST_SHARE * whole:
        return next(sentence for seconds, sentence in candidates if seconds >= NEARLY * largest)
    slowest = f", the slowest {span(cost(timing.tests[0]))}" if timing.tests else ""
    call = _parts(timing)["call"]
    return f"nothing stands out: {call.calls} tests take {span(call.seconds)} {of}{slowest}"


def _candidates(timing: Timing, of: str) -> Iterator[Candidate]:
    """What says most of the cause comes first."""
    for fixture in timing.fixtures:
        yield cost(fixture), _of_fixture(fixture, of) + _sleeping(fixture.sleeping, fixture.seconds, timing.sleeps)
    for row in timing.imports:
        yield row.seconds, f"importing {label(row.name)} takes {span(row.seconds)} {of}"
    for row in timing.collection:
        yield row.seconds, f"collecting takes {span(row.seconds)} {of} in {label(row.name)}, besides imports"
    for test in timing.tests:
        took = f"{label(test.node_id)} takes {span(cost(test))} {of}"
        yield test.call, took + _sleeping(test.sleeping, cost(test), timing.sleeps)
    yield from _of_functions(timing, of)
    if timing.sleeps:
        yield _of_sleeps(timing.sleeps, of)
    yield from _rests(timing, of)


def _of_fixture(fixture: FixtureTime, of: str) -> str:
    built = "once" if fixture.calls == 1 else f"{fixture.calls:,} times"
    torn_down = f" ({span(fixture.teardown)} of it its teardown)" if fixture.teardown > fixture.seconds else ""
    took = f"fixture {label(fixture.name)} is built {built}, {span(cost(fixture))} {of}{torn_down}"
    return f"{took}: scope {fixture.scope}"


def _sleeping(sleeping: float, seconds: float, sleeps: Sequence[Spent]) -> str:
    if sleeping < seconds / 2:
        return ""
    place = next((f" in {label(sleep.name)}" for sleep in sleeps if sleep.seconds >= sleeping / 2), "")
    return f"; time.sleep takes {span(sleeping)} of it{place}"


def _of_functions(timing: Timing, of: str) -> Iterator[Candidate]:
    """With their share of what pytest does for every test."""
    parts = _parts(timing)
    each = parts[OTHER].seconds / max(1, parts["call"].calls) if OTHER in parts else 0.0
    for row in timing.functions:
        seconds = row.seconds + row.calls * each
        yield seconds, f"{label(row.name)} runs with {row.calls:,} sets of parameters, {span(seconds)} {of}"


def _of_sleeps(sleeps: Sequence[Spent], of: str) -> Candidate:
    seconds, calls = sum(sleep.seconds for sleep in sleeps), sum(sleep.calls for sleep in sleeps)
    most = "" if len(sleeps) == 1 else ", most of it"
    return seconds, f"time.sleep takes {span(seconds)} {of} in {calls:,} calls{most} in {label(sleeps[0].name)}"


def _rests(timing: Timing, of: str) -> Iterator[Candidate]:
    explained = {
        "collection": sum(row.seconds for row in timing.collection),
        "setup": sum(fixture.seconds for fixture in timing.fixtures),
        "teardown": sum(fixture.teardown for fixture in timing.fixtures),
    }
    own = OF_PYTEST * _parts(timing)["call"].calls
    for part in timing.parts:
        rest = part.seconds - explained.get(part.name, 0.0) - own
        if part.name in RESTS:
            yield rest, f"{RESTS[part.name]} takes {span(rest)} {of}"


def _parts(timing: Timing) -> dict[str, Spent]:
    return {part.name: part for part in timing.parts}
