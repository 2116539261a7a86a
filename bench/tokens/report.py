"""The tables that `make tokens` prints, and TOKENS.md around them.

Pure, except `write`. The counts are in `results`, the goals in `rows`.
"""

from pathlib import Path

from bench.report import NOT_YET, NOTHING, table
from bench.tokens import tokenizer
from bench.tokens.results import Entry, Results
from bench.tokens.rows import ROWS, Row
from bench.tokens.transcripts import WAYS

FILE = Path(__file__).resolve().parent.parent / "TOKENS.md"
# The gain is compared with this: the shortest command that many people use.
USUAL = "pytest -q"
# A lower ratio of estimate to count breaks the promise of max_tokens.
LOWEST_RATIO = 0.97
NO_ESTIMATE = "The server has no estimate yet."

HEAD = """\
# Tokens

The size of answers in tokens, compared with what pytest prints for the same project.
Written by `make tokens` from `tokens/results.json`; `python -m bench.tokens --render` writes it again without counting.
"""
METHOD = f"""\
## How it was counted

- Tokens are those of {tokenizer.ENCODING}, counted by npm's `{tokenizer.PACKAGE}` {tokenizer.VERSION}.
- An answer is the whole `structuredContent` as compact JSON with every key, for a call without parameters to the real
  server over real stdio. The text block of `content` is the same object; it is counted once. An error is its code,
  message and data.
- pytest's output is both streams of `python -m pytest` in the same folder and environment, without a terminal; for
  discovery with `--collect-only`, for the missing test with its id.
- The projects are a generated shop with a package and several files of tests, so the truth is known. Every answer
  is compared with it: verdict, counts, every cause and its file, whole diffs, every file that cannot be imported with
  line and type, every key, and `omitted` if something was left out. An answer that differs is wrong, however small.
- Durations, addresses and the names of temporary folders differ from run to run, so the counts vary by a few tokens.
"""


def write(results: Results, real: str) -> None:
    FILE.write_text(document(results, real), encoding="utf-8")


def document(results: Results, real: str) -> str:
    """`real` is the part about the real bugs."""
    versions = sorted({entry.versions for entry in results.values()})
    where = f"Counted with {'; '.join(versions)}.\n" if versions else "Nothing is counted yet.\n"
    return "\n".join([HEAD, where, tables(results), real, METHOD])


def tables(results: Results) -> str:
    parts = [goals(results), *complaints(results), "## pytest's own output", gains(results)]
    return "\n\n".join([*parts, "## The server's own estimate", estimates(results)]) + "\n"


def goals(results: Results) -> str:
    lines = [goal_line(row, results.get(name)) for name, row in ROWS.items()]
    return table(["row", "project", "tokens", "goal", "", "date"], lines)


def goal_line(row: Row, entry: Entry | None) -> list[str]:
    said = [NOT_YET, f"≤ `{USUAL}`" if row.goal is None else f"≤ {row.goal:,}", NOTHING, NOTHING]
    if entry is not None:
        said = [f"{entry.answer:,}", f"≤ {most(row, entry):,}", judged(row, entry), entry.date]
    return [f"`{row.name}`", row.what, *said]


def judged(row: Row, entry: Entry) -> str:
    if entry.complaints:
        return "**wrong**"
    return "met" if entry.answer <= most(row, entry) else "**missed**"


def most(row: Row, entry: Entry) -> int:
    return entry.printed[USUAL] if row.goal is None else row.goal


def complaints(results: Results) -> list[str]:
    lines = [
        f"- `{name}` is wrong: {complaint}"
        for name in ROWS
        if name in results
        for complaint in results[name].complaints
    ]
    return ["\n".join(lines)] if lines else []


def gains(results: Results) -> str:
    lines = [
        [f"`{name}`", f"{entry.answer:,}", *(f"{entry.printed[way]:,}" for way in WAYS), gain(entry)]
        for name in ROWS
        if (entry := results.get(name)) is not None and entry.printed
    ]
    head = ["row", "answer", *(f"`{way}`" for way in WAYS), f"`{USUAL}` : answer"]
    return table(head, lines) + "\n\nThe last column is the tokens of `pytest -q` divided by those of the answer."


def gain(entry: Entry) -> str:
    """A wrong answer gains nothing."""
    if entry.complaints:
        return NOTHING
    times = entry.printed[USUAL] / entry.answer
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def estimates(results: Results) -> str:
    lines = [
        [f"`{name}`", f"{entry.answer:,}", f"{entry.estimate:,}", f"{entry.estimate / entry.answer:.3f}", kept(entry)]
        for name in ROWS
        if (entry := results.get(name)) is not None and entry.estimate is not None
    ]
    if not lines:
        return NO_ESTIMATE
    return table(["row", "tokens", "estimate", "ratio", f"goal: ≥ {LOWEST_RATIO}"], lines)


def kept(entry: Entry) -> str:
    assert entry.estimate is not None
    return "met" if entry.estimate >= LOWEST_RATIO * entry.answer else "**missed**"
