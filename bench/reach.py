"""What `changed` selects on real libraries, and how long the scan takes: `python -m bench.reach [LIBRARY...]`.

Every seeded bug of bench/tokens/real, and every module broken at import: which share of the tests is selected, and
which failing tests are not (there must be none). Then the time for a generated project of many modules, and that of
parsing the same files with `ast` for comparison. It ends with an error if a failing test was missed.
"""

import argparse
import ast
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.shell import ENVIRONMENT
from bench.tokens.real import mutants
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.runs import probed
from pytest_mcp.changed import import_graph, reach
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.run.run import Reach

BROKEN = "raise ImportError('broken by the bench')\n"
IMPORTS_OF_A_MODULE = 6
FOLDERS = 400


@dataclass(frozen=True)
class Row:
    name: str
    share: float
    failing: int
    missed: list[str]
    seconds: float

    @property
    def line(self) -> str:
        missed = f"  MISSED {', '.join(self.missed)}" if self.missed else ""
        return f"{self.name:48} {self.share:6.1%} selected {self.failing:5} failing {self.seconds:6.2f} s{missed}"


def of_library(checkout: Checkout, most_modules: int) -> Iterator[Row]:
    checkout.prepare()
    counts = collected(checkout)
    for mutant in mutants.load():
        if mutant.library == checkout.library.name:
            with checkout.changed([mutant]):
                yield measured(checkout, mutant.name, mutant.file, counts)
    modules = sorted((checkout.project / checkout.library.source).rglob("*.py"))
    for module in random.Random(1).sample(modules, min(most_modules, len(modules))):
        file = module.relative_to(checkout.project).as_posix()
        with at_import(checkout, file):
            yield measured(checkout, f"{checkout.library.name} without {file}", file, counts)


@contextmanager
def at_import(checkout: Checkout, file: str) -> Iterator[None]:
    checkout.restore()
    checkout.note.write_text(file, encoding="utf-8")
    try:
        checkout.write(file, BROKEN + checkout.original(file))
        yield
    finally:
        checkout.restore()


def collected(checkout: Checkout) -> Counter[str]:
    """How many tests each file has."""
    done = subprocess.run(
        [checkout.python, "-m", "pytest", "--collect-only", "-q", checkout.library.tests],
        cwd=checkout.project,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return Counter(line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line)


def measured(checkout: Checkout, name: str, file: str, counts: Counter[str]) -> Row:
    shown = probed(checkout, "-q", "--tb=no", "--continue-on-collection-errors", checkout.library.tests)
    started = time.perf_counter()
    found = reach.reach_of(Changes("main", "", frozenset({file}), frozenset()), checkout.project)
    seconds = time.perf_counter() - started
    left_out = set(found.unreached)
    missed = [node_id for node_id in shown.failures if node_id.partition("::")[0] in left_out]
    return Row(name, share(found, counts), len(shown.failures), missed, seconds)


def share(found: Reach, counts: Counter[str]) -> float:
    selected = sum(count for file, count in counts.items() if file not in set(found.unreached))
    return selected / max(1, counts.total())


def scale(number: int) -> str:
    """A project of this many modules: bodies from the standard library, six imports of others in each."""
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-reach-") as folder:
        files = list(generate(Path(folder), number))
        started = time.process_time()
        edges = sum(map(len, import_graph.build(Path(folder), []).importers.values()))
        scanned = time.process_time() - started
        started = time.process_time()
        for file in files:
            ast.parse(file.read_bytes())
        parsed = time.process_time() - started
    return f"{number} modules: {scanned:.2f} s for {edges} edges; parsing them with ast: {parsed:.2f} s"


def generate(root: Path, number: int) -> Iterator[Path]:
    chosen = random.Random(1)
    texts = [path.read_text("utf-8") for path in sorted(Path(ast.__file__).parent.glob("[a-z]*.py"))]
    bodies = [text for text in texts if 2_000 < len(text) < 6_000 and "__future__" not in text]
    names = [f"folder{index % FOLDERS}.module{index}" for index in range(number)]
    for index, name in enumerate(names):
        others = [other.rpartition(".") for other in chosen.sample(names, IMPORTS_OF_A_MODULE)]
        lines = [f"from big.{package} import {module}" for package, _, module in others]
        top = "src/big" if index % 4 else "tests"
        path = root / top / name.replace(".module", "/module" if index % 4 else "/test_module").replace(".", "/")
        path = path.with_name(f"{path.name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, chosen.choice(bodies)]), encoding="utf-8")
        yield path


def main(libraries: Iterable[str], most_modules: int, modules: int) -> int:
    rows = []
    for name in libraries:
        for row in of_library(Checkout(LIBRARIES[name]), most_modules):
            rows.append(row)
            print(row.line, flush=True)
    if rows:
        mean = sum(row.share for row in rows) / len(rows)
        print(f"{len(rows)} changes: {mean:.1%} of the tests selected on average, {sum(map(missed, rows))} missed")
    if modules:
        print(scale(modules))
    return 1 if any(row.missed for row in rows) else 0


def missed(row: Row) -> int:
    return len(row.missed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)}; all of them if none is named"
    )
    parser.add_argument(
        "--broken", type=int, default=1000, help="how many modules of each library are broken at import"
    )
    parser.add_argument("--scale", type=int, default=20_000, help="modules of the generated project; 0 leaves it out")
    options = parser.parse_args()
    sys.exit(main(options.libraries or LIBRARIES, options.broken, options.scale))
