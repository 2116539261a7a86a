"""The tables that `make bench` prints, and RESULTS.md around them.

Pure, except `write`. The measured values are in `results`, the goals in `rows`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.results import Entry, Figure, Results
from bench.rounds import Spread
from bench.rows import REASONS, ROWS, Row

FILE = Path(__file__).with_name("RESULTS.md")
NOTHING = "-"
# By unit; a ratio has no unit.
DIGITS = {"MB": 1, "s": 3, "": 3}
NOT_YET = "not measured yet"

HEAD = """\
# Results

Written by `make bench` from `results.json`; `python -m bench --render` writes it again without measuring.
"""
METHOD = """\
## How it was measured

- Times on a shared machine are not comparable, so every row is a ratio. Its variants run in turns, each once in a
  round, in a rotating order. The result is the median of the ratios of all rounds, with quartiles. One round before
  them is not counted; for `growth` the tests are collected once instead.
- The server is called over real stdio with raw lines: one process for all rounds of a row, or a new one for every
  sample if the row measures a start. The clock runs from writing the request until the whole answer is read. Every
  answer is checked.
- Warm means that the process for the next call is ready. Before every sample, also before one of the shell, the server
  and its descendants must be idle.
- The shell is `python -m pytest -q` in the same folder, with the same Python, pytest and variables, its output read
  through pipes.
- Memory is the resident set as Linux counts it. A peak is the largest memory of one process; a child's is read ten
  times a second.
"""


def write(results: Results) -> None:
    FILE.write_text(document(results), encoding="utf-8")


def document(results: Results) -> str:
    machines = sorted({entry.machine for entry in results.values()})
    where = f"Measured with {'; '.join(machines)}.\n" if machines else f"Nothing is {NOT_YET.removeprefix('not ')}.\n"
    return "\n".join([HEAD, where, tables(results), METHOD])


def tables(results: Results) -> str:
    parts = [goals(results), "## Medians", medians(results)]
    for name, row in ROWS.items():
        if name in results and any(figure.size for figure in results[name].measurement.figures):
            parts += [f"## {name.capitalize()}", f"{row.what.capitalize()}.", by_size(results[name])]
    return "\n\n".join(parts) + "\n"


def goals(results: Results) -> str:
    head = ["row", "what", "against", "measured (quartiles)", "goal", ""]
    rows = [
        goal_line(row, results.get(row.name))
        for row in ROWS.values()
        if row.goal is not None or has_result(row, results)
    ]
    missed = [
        f"- `{row.name}` misses its goal: {REASONS.get(row.name, 'no reason recorded')}"
        for row in ROWS.values()
        if row.name in results and is_met(row, results[row.name]) is False
    ]
    return table(head, rows) + ("\n\n" + "\n".join(missed) if missed else "")


def has_result(row: Row, results: Results) -> bool:
    return row.name in results and results[row.name].measurement.result is not None


def goal_line(row: Row, entry: Entry | None) -> list[str]:
    result = entry.measurement.result if entry else None
    goal = NOTHING if row.goal is None else f"≤ {row.goal:.{1 if row.unit else 2}f} {row.unit}".rstrip()
    met = {True: "met", False: "**missed**", None: NOTHING}[is_met(row, entry)]
    return [f"`{row.name}`", row.what, row.against, NOT_YET if result is None else around(result, row.unit), goal, met]


def is_met(row: Row, entry: Entry | None) -> bool | None:
    """None if there is no goal or no result."""
    if row.goal is None or entry is None or entry.measurement.result is None:
        return None
    return entry.measurement.result.median <= row.goal


def medians(results: Results) -> str:
    lines = [
        [f"`{name}`", figure.of, around(figure.spread, figure.unit), str(figure.rounds), entry.date]
        for name, entry in ordered(results)
        for figure in entry.measurement.figures
        if figure.size is None
    ]
    return table(["row", "variant", "median (quartiles)", "rounds", "date"], lines)


def by_size(entry: Entry) -> str:
    """One line for each variant, one column for each size."""
    figures = [figure for figure in entry.measurement.figures if figure.size is not None]
    rounds = {figure.size: figure.rounds for figure in figures}
    cells = {(figure.of, figure.size): sized_cell(figure) for figure in figures}
    lines = [[of, *(cells.get((of, size), NOTHING) for size in rounds)] for of in dict.fromkeys(f.of for f in figures)]
    head = ["tests", *(f"{size:,}" for size in rounds)]
    counts = ["rounds", *map(str, rounds.values())]
    return table(head, [*lines, counts]) + f"\n\nMedians, in brackets the ratio to pytest; measured on {entry.date}."


def sized_cell(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f" ({figure.ratio.median:.2f})"
    return amount(figure.spread.median, figure.unit) + ratio


def ordered(results: Results) -> Iterable[tuple[str, Entry]]:
    return ((name, results[name]) for name in ROWS if name in results)


def around(spread: Spread, unit: str) -> str:
    digits = DIGITS[unit]
    return f"{amount(spread.median, unit)} ({spread.low:,.{digits}f} to {spread.high:,.{digits}f})"


def amount(value: float, unit: str) -> str:
    return f"{value:,.{DIGITS[unit]}f} {unit}".rstrip()


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])
