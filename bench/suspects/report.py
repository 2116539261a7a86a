"""SUSPECTS.md: for each kind of case its goals and every miss. Pure, except `write`: results in, Markdown out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.report import NOTHING, table
from bench.suspects import results
from bench.suspects.results import Entry

FILE = Path(__file__).parents[1] / "SUSPECTS.md"
AMONG = 5
# log2 of 200 and three more.
MAX_RUNS = 10
HEAD = """\
# Suspects and first differences

Written by `make suspects` from `suspects/results.json`. Where a base passes, `investigate_failure` compares both runs
call by call; where none does, it ranks suspects.
"""
METHOD = """\
## How it was measured

- *Fix commits*: the tree of a commit whose source alone is as it was before; the base is the commit. Faulty is every
  function, class body and module body that would run otherwise: comments and annotations do not count.
- *Wide diffs*: one changed line in one of at least twenty functions that differ from the base. The test passes at both
  ends without that line, and with the source of the one and the tests of the other.
- *Mutants*: one changed line that the library's own suite catches. With a base, without those that break an import;
  without one, such a bug is found if the chain of imports names its module.
- A case takes the steps of `investigate_failure` that decide it: alone, at the base, traced at both; or, without a
  base, one run that traces the test and those nearest to it. The suspects do not know what has changed.
- *The very line*: where both runs part is a changed line. Where lines are missing, those around the gap count.
- *Tokens* are those of `first_difference`, o200k.
- *CPU* is that of the whole process and its supervisor, for the one test, on Python 3.11. *Time of the traced tests* is
  theirs alone, to that of the same tests in the same order. On a busy machine single values are off by half.
- *Histories*: 200 commits that add comments, of which one also plants a mutant and about ten others cannot be imported.
- Fixes (but for sqlglot's) and wide diffs were measured again on one state, next to the state before it was shortened:
  of 70 answers 69 named the same calls, and attrs-88e2896ca was found. That one was looked at, as were all that are
  missed. Some other answers of the holdout were read to compare both states; nothing was tuned on them. Their tokens
  are those before values became shorter.
- The mutants and the suspects without a base are of earlier states.
- click-6f85d26dc and tabulate-3014 run their code in another process, which is not traced.
- The suspects' formula was chosen on mutants of boltons, cachetools and toolz.
- The histories are not fetched: `make suspects REPOS=FOLDER` names a folder with clones of the libraries.
"""


@dataclass(frozen=True)
class Goal:
    what: str
    holds: Callable[[Entry], bool]
    share: float | None


@dataclass(frozen=True)
class Ratio:
    what: str
    most: tuple[float, float | None]


def _among(number: int) -> Callable[[Entry], bool]:
    return lambda entry: entry.place is not None and entry.place <= number


_CPU = Ratio("CPU of a traced run, to a plain one", (1.4, 2))
_TIME = Ratio("time of the traced tests", (3, None))
_LINE = "the very line"
# By kind: the title, the goals, and what a ratio of seconds is.
SECTIONS: Mapping[str, tuple[str, Sequence[Goal], Ratio]] = {
    "fix": (
        "First difference: real fix commits, taken back",
        (
            Goal("the first lies in code that the fix changed", _among(1), 0.9),
            Goal("one of the first three does", _among(3), 0.97),
            Goal("such code is named at all", lambda entry: entry.is_named, None),
            Goal(_LINE, lambda entry: entry.is_line, 0.7),
        ),
        _CPU,
    ),
    "wide": (
        "First difference: a bug inside a wide diff",
        (
            Goal("the first is in the function with the bug", _among(1), 0.8),
            Goal("one of the first three is", _among(3), 0.9),
            Goal(_LINE, lambda entry: entry.is_line, None),
        ),
        _CPU,
    ),
    "mutant": (
        "First difference: mutants",
        (
            Goal("the first is in the function with the bug", _among(1), 0.92),
            Goal("that function is named at all", lambda entry: entry.is_named, 0.97),
            Goal(_LINE, lambda entry: entry.is_line, 0.85),
        ),
        _CPU,
    ),
    "history": (
        "The commit that broke it, of 200",
        (
            Goal("the planted commit is named", _among(1), 0.95),
            Goal("in at most log2 n + 3 runs", lambda entry: entry.runs <= MAX_RUNS, 1),
        ),
        _TIME,
    ),
    "suspects of a fix": (
        "Suspects: the fix commits, without a base",
        (
            Goal("a function that the fix changed is first", _among(1), 0.45),
            Goal(f"one is among the first {AMONG}", _among(AMONG), 0.75),
        ),
        _TIME,
    ),
    "suspects of a mutant": (
        "Suspects: mutants",
        (
            Goal("the function with the bug is first", _among(1), 0.6),
            Goal(f"it is among the first {AMONG}", _among(AMONG), 0.85),
        ),
        _TIME,
    ),
}


def document(entries: Mapping[str, Entry]) -> str:
    parts = [HEAD]
    for kind, (title, goals, ratio) in SECTIONS.items():
        chosen = {name: entry for name, entry in entries.items() if entry.kind == kind}
        body = (
            f"{figures([*chosen.values()], goals, ratio)}\n\n{misses(chosen)}" if chosen else "Nothing is measured yet."
        )
        parts.append(f"## {title}\n\n{body}\n")
    return "\n".join([*parts, METHOD])


def figures(entries: Sequence[Entry], goals: Sequence[Goal], ratio: Ratio) -> str:
    halves = [[entry for entry in entries if entry.holdout == holdout] for holdout in (True, False)]
    rows = [[goal.what, *(share(half, goal) for half in halves), wanted(goal.share)] for goal in goals]
    counted = [[entry.tokens for entry in half if entry.tokens] for half in halves]
    if any(counted):
        rows.append(["tokens, median and worst", *(spread(each, 0) for each in counted), "≤ 200, ≤ 600"])
    limits = ", ".join(f"≤ {most}" for most in ratio.most if most)
    ratios = [[entry.ratio for entry in half if entry.ratio is not None] for half in halves]
    if any(ratios):
        rows.append([f"{ratio.what}, median and worst", *(spread(each, 2) for each in ratios), limits])
    return table(["", "holdout", "tuned libraries", "goal"], rows)


def share(entries: Sequence[Entry], goal: Goal) -> str:
    if not entries:
        return NOTHING
    count = sum(map(goal.holds, entries))
    missed = goal.share is not None and count / len(entries) < goal.share
    return f"{count} of {len(entries)} ({count / len(entries):.0%}){', missed' if missed else ''}"


def wanted(share: float | None) -> str:
    return "" if share is None else f"≥ {share:.0%}"


def spread(values: Sequence[float], digits: int) -> str:
    return f"{median(values):.{digits}f}, {max(values):.{digits}f}" if values else NOTHING


def misses(entries: Mapping[str, Entry]) -> str:
    """The worst first."""
    missed = [name for name, entry in entries.items() if entry.place != 1]
    missed.sort(key=lambda name: (-(entries[name].place or AMONG + 1), name))
    if not missed:
        return "It is first in all of them."
    return table(["not first in", "faulty", "first is", "place"], [row(name, entries[name]) for name in missed])


def row(name: str, entry: Entry) -> list[str]:
    named = code(entry.named[:1]) if entry.named else entry.problem or NOTHING
    return [name.removesuffix(results.NO_BASE), code(entry.faulty), named, str(entry.place or NOTHING)]


def code(scopes: Sequence[str]) -> str:
    """One of them, and how many more."""
    more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
    return f"`{scopes[0].rpartition(':')[2]}`{more}" if scopes else NOTHING


def write(entries: Mapping[str, Entry]) -> None:
    FILE.write_text(document(entries), encoding="utf-8")
