"""`python -m bench.polluters`: plant tests that leak, investigate what they break, save and print it; see `--help`."""

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

import anyio

from bench.polluters import report, results
from bench.polluters.measure import measure
from bench.polluters.plant import Kind
from bench.tokens.cache import FOLDER
from bench.tokens.real import libraries
from bench.tokens.real.libraries import LIBRARIES


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    if not options.render:
        FOLDER.mkdir(exist_ok=True)
        for name in options.libraries or LIBRARIES:
            run(name, options.number)
    report.write(results.load())
    print(report.document(results.load()))
    return 0


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.polluters", description="Find a test that leaks.")
    libraries.add_to(parser)
    parser.add_argument("--number", type=int, default=1, metavar="N", help="so many of each kind in each library")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the document again")
    return parser.parse_args(given)


def run(library: str, number: int) -> None:
    """Each one is saved as soon as it is measured."""
    for kind in get_args(Kind):
        for seed in range(number):
            entry = anyio.run(measure, LIBRARIES[library], kind, seed)
            kept = {name: each for name, each in results.load().items() if name != f"{library}-{kind}-{seed}"}
            results.save(kept if entry is None else {**kept, f"{library}-{kind}-{seed}": entry})
            report.write(results.load())


if __name__ == "__main__":
    sys.exit(main())
