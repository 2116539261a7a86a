"""SUSPECTS.md: goals first, then every bug, the missed ones first. Pure, except `write`: results in, Markdown out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from bench.report import NOTHING, table
from bench.suspects.results import Entry
from bench.tokens.real.libraries import LIBRARIES

FILE = Path(__file__).parents[1] / "SUSPECTS.md"
AMONG = 5
FIRST_GOAL = 0.6
AMONG_GOAL = 0.85
RATIO_GOAL = 3.0

HEAD = """\
# Suspects

Written by `make suspects` from `suspects/results.json`. Each bug is one changed line of a library that its own suite
catches: the real bugs of `make tokens`, and those in `suspects/mutants.json`.
"""
METHOD = """\
## How it was measured

- The whole suite runs with the bug. The first failing test is the one that is investigated; its suspects are found as
  `investigate_failure` finds them, in one run that traces it and the tests nearest to it.
- *Rank* is the place of the function with the bug among the five suspects. A bug that breaks an import is found if the
  chain of imports names its module.
- *Time* is that of the traced tests, traced, divided by their time in a run of the same tests in the same order
  without tracing. Starting Python and collecting tests are in neither. The libraries run on the Python that runs this.
- The weights of the formula were chosen among some 250 combinations on the bugs of boltons, cachetools and toolz that
  are listed here, so the figures of these libraries say little about other code. Nobody tunes on the holdout.
- Each time is that of one run. On a busy machine single values are off by half.
"""


def document(entries: Mapping[str, Entry]) -> str:
    parts = [HEAD]
    for title, holdout in (("The holdout", True), ("The other libraries", False)):
        chosen = {name: each for name, each in entries.items() if LIBRARIES[each.library].holdout == holdout}
        parts.append(f"## {title}\n")
        parts.append(f"{goals([*chosen.values()])}\n\n{bugs(chosen)}\n" if chosen else "Nothing is measured yet.\n")
    return "\n".join([*parts, METHOD])


def goals(entries: Sequence[Entry]) -> str:
    ratios = [entry.ratio for entry in entries if entry.ratio is not None]
    found = [entry.rank for entry in entries if entry.rank is not None]
    first, among = sum(rank == 1 for rank in found), len(found)
    lines = [
        share("the function with the bug is first", first, len(entries), FIRST_GOAL),
        share(f"it is among the first {AMONG}", among, len(entries), AMONG_GOAL),
    ]
    if ratios:
        middle = median(ratios)
        lines.append(["time of the traced tests, median", f"{middle:.2f}", f"≤ {RATIO_GOAL}", verdict(middle <= 3)])
        lines.append(["time of the traced tests, worst", f"{max(ratios):.2f}", "", ""])
    return table([f"over {len(entries)} bugs", "measured", "goal", ""], lines)


def share(what: str, count: int, total: int, goal: float) -> list[str]:
    return [what, f"{count} of {total} ({count / total:.0%})", f"≥ {goal:.0%}", verdict(count / total >= goal)]


def verdict(holds: bool) -> str:
    return "" if holds else "missed"


def bugs(entries: Mapping[str, Entry]) -> str:
    order = sorted(entries, key=lambda name: (-(entries[name].rank or AMONG + 1), name))
    rows = [row(name, entries[name]) for name in order]
    return table(["bug", "function", "rank", "suspects", "failing", "traced", "time"], rows)


def row(name: str, entry: Entry) -> list[str]:
    return [
        name,
        f"`{entry.function}`",
        str(entry.rank or NOTHING),
        str(len(entry.suspects)),
        str(entry.failing),
        str(entry.tests),
        NOTHING if entry.ratio is None else f"{entry.ratio:.2f}",
    ]


def write(entries: Mapping[str, Entry]) -> None:
    FILE.write_text(document(entries), encoding="utf-8")
