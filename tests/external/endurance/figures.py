"""A figure is what an endurance run measured: some counts, whether they are good, and one line that says so."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

# How many of the offending inputs a figure keeps, to begin the search with.
KEPT_EXAMPLES = 5


@dataclass
class Tally:
    """Faults while they are being counted, by their kind, and the first few inputs that showed them."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, kind: str, example: object) -> None:
        self.counts[kind] += 1
        if len(self.examples) < KEPT_EXAMPLES:
            self.examples.append(f"{kind}: {example}")

    def __getitem__(self, kind: str) -> int:
        return self.counts[kind]


@dataclass(frozen=True)
class Figure:
    """Good if nothing was tallied and everything else `is_right`."""

    words: str
    tally: Tally
    is_right: bool = True

    @property
    def ok(self) -> bool:
        return self.is_right and not self.tally.counts


Measure = Callable[[float, int], Figure]


def part(full: int, share: float) -> int:
    return max(1, round(full * share))


def report(measure: Measure, *, share: float, seed: int) -> bool:
    """Print the figure in one line, and what is not good about it."""
    started = time.monotonic()
    figure = measure(share, seed)
    sys.stdout.write(f"{figure.words} (seed {seed}, {time.monotonic() - started:.0f} s)\n")
    if not figure.ok:
        sys.stdout.writelines(f"  NOT GOOD: {example}\n" for example in figure.tally.examples or ("see the counts",))
    sys.stdout.flush()
    return figure.ok
