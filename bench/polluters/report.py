"""POLLUTERS.md: how many answers were right, then every planted test. Pure, except `write`."""

from collections.abc import Mapping
from pathlib import Path

from bench.polluters.results import Entry
from bench.report import table

FILE = Path(__file__).parents[1] / "POLLUTERS.md"

HEAD = """\
# Polluters

Written by `make polluters` from `polluters/results.json`. One test that leaks is planted in the suite of a library, and
`investigate_failure` is asked about a test that fails because of it.
"""
METHOD = """\
## How it was measured

- The libraries are those of `make tokens`. The leak, the file, the place in it and the test that is investigated are
  chosen by chance with a fixed seed. A leak of an *attribute* replaces a function or a method of the library by one
  that does nothing, one of a *global* empties a list, a dict or a set of a module, one of the *environment* sets
  environment variables, one of the *process* changes the working directory, the decimal context or the level of
  logging.
- Plain pytest decides what is true: the test passes in the suite as it is and alone, it fails in the suite with the
  planted test, and it fails behind the planted test alone. A leak that breaks no such test is replaced by another one;
  a kind that breaks none in twelve tries is left out.
- *Right* means that the kind is `order_dependent` and that the planted test is the only one in `polluter`.
- *Steps* are the runs and other steps that were reported as progress. Times are of a busy machine.
"""


def document(entries: Mapping[str, Entry]) -> str:
    if not entries:
        return f"{HEAD}\nNothing is measured yet.\n"
    right = sum(entry.is_right for entry in entries.values())
    libraries = ", ".join(sorted({entry.library for entry in entries.values()}))
    summary = f"**{right} of {len(entries)}** answers are right, in the suites of {libraries}.\n"
    order = sorted(entries, key=lambda name: (entries[name].is_right, name))
    heads = ["library", "leak", "planted in", "investigated", "tests", "broken", "right", "steps", "seconds"]
    return "\n".join([HEAD, summary, f"{table(heads, [row(entries[name]) for name in order])}\n", METHOD])


def row(entry: Entry) -> list[str]:
    return [
        entry.library,
        f"{entry.leak}: {entry.target}",
        f"`{entry.planted.partition('::')[0]}`",
        f"`{entry.victim}`".replace("|", "\\|"),
        str(entry.tests),
        str(entry.broken),
        "yes" if entry.is_right else f"no: {entry.kind}",
        str(entry.runs),
        f"{entry.seconds:.0f}",
    ]


def write(entries: Mapping[str, Entry]) -> None:
    FILE.write_text(document(entries), encoding="utf-8")
