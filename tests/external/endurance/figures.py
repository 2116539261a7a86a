"""A figure is what an endurance run measured: some counts, whether they are good, and one line that says so."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

# How many of the offending inputs a figure keeps, to begin the search with.
KEPT_EXAMPLES = 5


class Figure(Protocol):
    @property
    def ok(self) -> bool: ...

    @property
    def words(self) -> str: ...

    @property
    def examples(self) -> tuple[str, ...]: ...


@dataclass
class Tally:
    """Faults while they are being counted, by their kind, and the first few inputs that showed them."""

    counts: dict[str, int] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    def add(self, kind: str, example: object) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(self.kept) < KEPT_EXAMPLES:
            self.kept.append(f"{kind}: {example}")

    def __getitem__(self, kind: str) -> int:
        return self.counts.get(kind, 0)

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(self.kept)


Measure = Callable[[float, int], Figure]


def options(description: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--share", type=float, default=1.0, help="how much of the full size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="of everything that is random (default: %(default)s)")
    return parser.parse_args(arguments)


def part(full: int, share: float) -> int:
    return max(1, round(full * share))


def measure_all(measures: Sequence[Measure], *, share: float, seed: int) -> int:
    """Print one line for each figure as soon as it is there; the exit code says whether all are good."""
    good = [report(measure, share=share, seed=seed) for measure in measures]
    return 0 if all(good) else 1


def report(measure: Measure, *, share: float, seed: int) -> bool:
    started = time.monotonic()
    figure = measure(share, seed)
    sys.stdout.write(f"{figure.words} (seed {seed}, {time.monotonic() - started:.0f} s)\n")
    if not figure.ok:
        sys.stdout.writelines(f"  NOT GOOD: {example}\n" for example in figure.examples or ("see the counts",))
    sys.stdout.flush()
    return figure.ok
