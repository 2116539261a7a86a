"""`python -m bench.suspects`: measure the suspects of real bugs, save the results and print them; see `--help`."""

import argparse
import sys
from collections.abc import Sequence

import anyio

from bench.suspects import more, report, results
from bench.suspects.measure import measure
from bench.tokens.cache import FOLDER
from bench.tokens.real import libraries
from bench.tokens.real.libraries import LIBRARIES


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    if not options.render:
        FOLDER.mkdir(exist_ok=True)
        run(options)
    report.write(results.load())
    print(report.document(results.load()))
    return 0


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.suspects", description="Find the function with a bug.")
    libraries.add_to(parser)
    parser.add_argument("--tuned", action="store_true", help="without the holdout")
    parser.add_argument("--search", type=int, default=0, metavar="N", help="find so many more bugs of each first")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the document again")
    return parser.parse_args(given)


def run(options: argparse.Namespace) -> None:
    """Each bug is saved as soon as it is measured. What is known no more is forgotten."""
    names = [name for name in options.libraries or LIBRARIES if not (options.tuned and LIBRARIES[name].holdout)]
    for name in names if options.search else ():
        more.find(LIBRARIES[name], options.search)
    bugs = more.known()
    kept = {mutant.name for mutant in bugs}
    for mutant in bugs:
        if mutant.library in names:
            entry = anyio.run(measure, mutant)
            before = {name: each for name, each in results.load().items() if name in kept}
            results.save({**before, mutant.name: entry})


if __name__ == "__main__":
    sys.exit(main())
