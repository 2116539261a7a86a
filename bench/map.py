"""What `changed` selects with recorded runs on real libraries: `python -m bench.map [LIBRARY...]`.

For each library the suite runs once with `--history-map`, then random bugs are seeded, as in bench/tokens/real but with
another seed: which share of the tests is selected, and which failing tests are not (there must be none). Then the time
of a run with and without the map, in seconds of the processor, and the size of the map. It ends with an error if a
failing test was missed.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.shell import ENVIRONMENT
from bench.tokens.real import mutation
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.runs import probed
from bench.tokens.real.search import is_python, sources
from pytest_mcp.changes import reach
from pytest_mcp.changes.differences import Changes
from pytest_mcp.history import affected, maps, project_name
from pytest_mcp.history.opening import open_store

DEFAULT = ("boltons", "h11", "marshmallow", "tinydb")
# A mutant can make an endless loop.
LONGEST_RUN = 120


@dataclass(frozen=True)
class Row:
    name: str
    selected: int
    total: int
    failing: int
    missed: list[str]

    @property
    def share(self) -> float:
        return self.selected / max(1, self.total)

    @property
    def line(self) -> str:
        missed = f"  MISSED {', '.join(self.missed[:5])}" if self.missed else ""
        return f"{self.name:48} {self.share:6.1%} selected {self.failing:5} failing{missed}"


def run(checkout: Checkout, *flags: str) -> float:
    """Seconds of the processor, of all processes of the run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest_mcp", "run", f"--python={checkout.python}", *flags, checkout.library.tests],
        cwd=checkout.project,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mutants(checkout: Checkout, seed: int) -> Iterator[Mutant]:
    library = checkout.library
    made = [
        Mutant(library.name, library.version, file, edit, 0)
        for file in sources(checkout)
        for edit in mutation.edits(checkout.original(file))
    ]
    Random(f"{seed} {library.name}").shuffle(made)
    return (each for each in made if is_python(mutation.applied(checkout.original(each.file), each.edit)))


def of_library(checkout: Checkout, history: str, wanted: int, seed: int) -> Iterator[Row]:
    stored = read(checkout, history)
    found = 0
    for mutant in mutants(checkout, seed):
        with checkout.changed([mutant]):
            try:
                shown = probed(
                    checkout, "-q", "--tb=no", "--continue-on-collection-errors", checkout.library.tests,
                    seconds=LONGEST_RUN,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                continue
            if not shown.failures:
                continue
            yield measured(checkout, mutant, set(shown.failures), stored)
        found += 1
        if found == wanted:
            return


def read(checkout: Checkout, history: str) -> maps.Stored:
    store = open_store(history)
    try:
        return maps.read(store, project_name.of(checkout.project))
    finally:
        store.close()


def measured(checkout: Checkout, mutant: Mutant, failing: set[str], stored: maps.Stored) -> Row:
    changes = Changes("main", "", frozenset({mutant.file}), frozenset())
    examined = reach.examine(changes, checkout.project)
    before = {mutant.file: checkout.original(mutant.file).encode()}
    found = affected.narrowed_by(examined, changes, before, stored)
    left_out, files = set(found.unaffected), set(found.unreached)
    tests = [name for each in stored.runs for name in each.tests]
    selected = [name for name in tests if name not in left_out and name.partition("::")[0] not in files]
    missed = sorted(name for name in failing if name in left_out or name.partition("::")[0] in files)
    name = f"{mutant.name} {mutant.edit.operator}{' at import' if mutant.edit.at_import else ''}"
    return Row(name, len(selected), len(tests), len(failing), missed)


def cost(checkout: Checkout, folder: str, rounds: int) -> str:
    history = f"--history={folder}/cost.db"
    pairs = [(run(checkout, history), run(checkout, history, "--history-map")) for _ in range(rounds)]
    ratios = sorted(with_map / without for without, with_map in pairs)
    return f"{statistics.median(ratios):.2f} x the time ({', '.join(f'{ratio:.2f}' for ratio in ratios)})"


def size(history: str, tests: int) -> str:
    kib = os.path.getsize(history) / 1024  # noqa: PTH202
    return f"{kib:.0f} KiB for {tests} tests"


def main(libraries: list[str], wanted: int, seed: int, rounds: int) -> int:
    rows: list[Row] = []
    for name in libraries:
        checkout = Checkout(LIBRARIES[name])
        checkout.prepare()
        checkout.restore()
        with tempfile.TemporaryDirectory(prefix="pytest-mcp-map-") as folder:
            history = str(Path(folder) / "history.db")
            run(checkout, f"--history={history}", "--history-map")
            tests = sum(len(each.tests) for each in read(checkout, history).runs)
            print(f"== {name}: {size(history, tests)}", flush=True)
            for row in of_library(checkout, history, wanted, seed):
                rows.append(row)
                print(row.line, flush=True)
            if rounds:
                print(f"== {name}: {cost(checkout, folder, rounds)}", flush=True)
    if rows:
        middle = statistics.median(row.share for row in rows)
        mean = statistics.mean(row.share for row in rows)
        missed = sum(len(row.missed) for row in rows)
        print(f"{len(rows)} bugs: median {middle:.1%}, mean {mean:.1%} of the tests selected, {missed} missed")
    return 1 if any(row.missed for row in rows) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)}")
    parser.add_argument("--bugs", type=int, default=6, help="of each library")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--rounds", type=int, default=3, help="of the measurement of time; 0 leaves it out")
    options = parser.parse_args()
    sys.exit(main(options.libraries or [*DEFAULT], options.bugs, options.seed, options.rounds))
