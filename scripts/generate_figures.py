"""Write the measured figures into the documents: the size of answers, the time of calls, and estimates from them.

Each table is between two comments that name it. `--check` writes nothing and fails if a table differs from the results
of `make bench` and `make tokens`.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import results as measured
from bench.tokens import results as counted
from bench.tokens.real import results as bugs
from bench.tokens.real.evidence import Share

DOCS = Path(__file__).resolve().parent.parent / "docs"

SPEED = {
    "one-test": "one test, server warm",
    "plugins": "the same with xdist, cov, anyio, hypothesis and django installed",
    "first-call": "one test, first call after the start",
    "many-tests": "10,000 passing tests",
    "discovery": "discovery of 10,000 tests",
}
COST = {
    "passing": "200 passing tests",
    "one-failing": "1 failing test",
    "mixed": "200 passing tests, 4 failures of different causes, 3 skips",
    "one-fixture": "200 errors of one broken fixture",
    "deep": "100 deep failures of one cause, each after 200 printed lines",
    "noisy": "500 failures of 12 causes",
}


# The same with the rows in which pytest's own output is smaller.
CONSTRUCTED = {"one-passing": "1 passing test", "missing-id": "a node id that does not exist"} | COST

PARALLEL = {"workers": "with two workers", "shards": "in two shards at once, with their merge"}
# Shards of each size of suite that the estimate is made for.
ESTIMATED = {100_000: (1, 10, 100), 1_000_000: (10, 100, 1_000)}
# The size of suite that the costs of one test are taken from, and how long tests take themselves, in seconds.
MEASURED_SIZE = 100_000
OWN_SECONDS = (0.0, 0.05)


def main(arguments: list[str]) -> int:
    stale = [name for name in PARTS if filled(name) != (DOCS / name).read_text(encoding="utf-8")]
    if "--check" in arguments:
        for name in stale:
            print(f"Out of date: docs/{name}; run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (DOCS / name).write_text(filled(name), encoding="utf-8")
        print(f"wrote docs/{name}")
    return 0


def filled(name: str, text: str | None = None) -> str:
    """The document, or this text of it, with new tables."""
    text = text or (DOCS / name).read_text(encoding="utf-8")
    for part, write in PARTS[name].items():
        text = _replaced(text, part, write(), name)
    return text


def _replaced(text: str, part: str, content: str, name: str) -> str:
    begin, end = f"<!-- generated: {part} -->\n", "<!-- end -->\n"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    text, count = pattern.subn(lambda _: f"{begin}{content}{end}", text)
    if count != 1:
        raise SystemExit(f"docs/{name} must have one part {part!r} between {begin.strip()} and {end.strip()}")
    return text


def speed() -> str:
    kept = measured.load()
    rows = [(what, *_times(kept[name])) for name, what in SPEED.items()]
    start = kept["start"].measurement.figures
    rows.append(("start to `tools/list`, against a minimal server of the SDK", *_pair(start)))
    return table(("what", "this server", "`python -m pytest -q`", "ratio"), rows)


def cost() -> str:
    kept = counted.load()
    rows = [
        (what, f"{kept[name].answer:,}", *(f"{kept[name].printed[way]:,}" for way in ("pytest", "pytest -q")))
        for name, what in COST.items()
    ]
    return table(("tokens of", "the answer", "`pytest`", "`pytest -q`"), rows)


def constructed() -> str:
    """Sorted, with the worst row for us first."""
    ways = ("pytest -q", "pytest -q --tb=short")
    results = counted.load()
    kept = {what: results[name] for name, what in CONSTRUCTED.items()}
    ratios = {what: entry.answer / entry.printed[ways[0]] for what, entry in kept.items()}
    rows = [
        (what, f"{kept[what].answer:,}", *(f"{kept[what].printed[way]:,}" for way in ways), f"{ratios[what]:.3g}")
        for what in sorted(ratios, key=lambda what: -ratios[what])
    ]
    return table(("tokens of", "the answer", *(f"`{way}`" for way in ways), "answer : `pytest -q`"), rows)


def real_bugs() -> str:
    entries = list(bugs.load().mutants.values())
    libraries = len({entry.library for entry in entries})
    rows = []
    for way in entries[0].others:
        theirs = [entry.others[way] for entry in entries]
        ratios = [entry.tokens / other.tokens for entry, other in zip(entries, theirs, strict=True)]
        total = sum(entry.tokens for entry in entries) / sum(other.tokens for other in theirs)
        whole = _percent([other.evidence for other in theirs])
        rows.append((f"`{way}`", *(f"{each:.2f}" for each in (total, median(ratios), min(ratios), max(ratios))), whole))
    rows.append(("this server", *("1.00",) * 4, _percent([entry.evidence for entry in entries])))
    head = (f"{len(entries)} bugs in {libraries} libraries, ours against", "all together", "median", "best", "worst")
    return table((*head, "`E` lines whole"), rows)


def _percent(shares: Sequence[Share]) -> str:
    """Rounded down: 100 % means all."""
    return f"{100 * sum(share.whole for share in shares) // sum(share.lines for share in shares)} %"


def estimate() -> str:
    """What one test costs, and what suites that were not measured would cost from that."""
    collecting, running, memory = _unit_costs(measured.load()["growth"])
    costs = [
        ("collecting a test, in every shard", f"{collecting * 1000:.2f} ms"),
        ("running a test that does nothing, in one shard", f"{running * 1000:.2f} ms"),
        ("memory of a collected test, in every shard", f"{memory * 1000:.1f} kB"),
    ]
    rows = []
    for tests, count in [(tests, count) for tests, counts in ESTIMATED.items() for count in counts]:
        times = [_span(tests * collecting + tests / count * (running + own)) for own in OWN_SECONDS]
        rows.append((f"{tests:,}", f"{count:,}", *times, f"{tests * memory / 1000:.1f} GB"))
    times_of = [f"time, if each takes {own * 1000:.0f} ms" for own in OWN_SECONDS]
    head = ("tests", "shards", *times_of, "memory of each shard, at least")
    return table(("measured", ""), costs) + "\n" + table(head, rows)


def _unit_costs(entry: measured.Entry) -> tuple[float, float, float]:
    """Seconds to collect a test and to run it, and megabytes that it takes."""
    figures = {figure.of: figure.spread.median for figure in entry.measurement.figures if figure.size == MEASURED_SIZE}
    collecting = figures["discovered: time, this server"]
    running = figures["run: time, this server"] - collecting
    return collecting / MEASURED_SIZE, running / MEASURED_SIZE, figures["discovered: peak of its child"] / MEASURED_SIZE


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def parallel() -> str:
    kept = measured.load()
    rows = [(what, *_times(kept[name])) for name, what in PARALLEL.items() if name in kept]
    return table(("400 tests of 50 ms", "so", "`python -m pytest -q`", "ratio"), rows)


def _times(entry: measured.Entry) -> tuple[str, str, str]:
    assert entry.measurement.result is not None
    own, shell, _ = _pair(entry.measurement.figures)
    return own, shell, f"{entry.measurement.result.median:.2f}"


def _pair(figures: Sequence[measured.Figure]) -> tuple[str, str, str]:
    own, other = figures[0].spread.median, figures[1].spread.median
    return f"{own:.2f} s", f"{other:.2f} s", f"{own / other:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


# document → the names of its tables, and what writes each
PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "answers.md": {"cost": cost},
    "why.md": {"constructed": constructed, "bugs": real_bugs},
    "speed.md": {"speed": speed},
    "scale.md": {"parallel": parallel, "estimate": estimate},
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
