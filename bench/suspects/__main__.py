"""`python -m bench.suspects`: find real bugs, save the results and print them; see `--help`."""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from bench.shell import Wrong
from bench.suspects import corpus, histories, more, report, results
from bench.suspects.corpus import Case
from bench.suspects.measure import measure
from bench.suspects.repositories import REPOSITORIES, Absent
from bench.tokens import tokenizer
from bench.tokens.cache import FOLDER
from bench.tokens.real.libraries import LIBRARIES
from scripts.npm import prepare

# About so many of the mutants are planted in histories.
HISTORIES = 20
HOLDOUT = {name for name, each in LIBRARIES.items() if each.holdout}
HOLDOUT |= {name for name, each in REPOSITORIES.items() if each.holdout}


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    if not options.render:
        FOLDER.mkdir(exist_ok=True)
        run(options)
    report.write(results.load())
    print(report.document(results.load()))
    return 0


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    known = sorted({*LIBRARIES, *REPOSITORIES})
    parser = argparse.ArgumentParser(prog="python -m bench.suspects", description="Find the function with a bug.")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"only these; of {', '.join(known)}")
    parser.add_argument("--repos", type=Path, metavar="DIR", help="clones of the libraries with the real commits")
    parser.add_argument("--kind", action="append", choices=report.SECTIONS, help="only this; may be repeated")
    parser.add_argument("--tuned", action="store_true", help="without the holdout")
    parser.add_argument("--only", choices=("new", "missed"), help="only what was never measured, or is not first")
    parser.add_argument("--search", type=int, default=0, metavar="N", help="find so many more mutants of each first")
    parser.add_argument("--dump", type=Path, metavar="DIR", help="write every first difference into this folder")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the document again")
    options = parser.parse_args(given)
    if unknown := set(options.libraries) - set(known):
        parser.error(f"no such library: {', '.join(sorted(unknown))}")
    return options


def run(options: argparse.Namespace) -> None:
    """Each case is saved as soon as it is measured."""
    prepare([tokenizer.INSTALLED.name])
    if options.dump is not None:
        options.dump.mkdir(parents=True, exist_ok=True)
    wanted = options.libraries or sorted({*LIBRARIES, *REPOSITORIES})
    names = [name for name in wanted if not (options.tuned and name in HOLDOUT)]
    for name in names if options.search else ():
        if name in LIBRARIES:
            more.find(LIBRARIES[name], options.search)
    for case in cases(names, options.kind or [*report.SECTIONS], options.repos):
        known = results.load().get(case.name)
        if known is not None and (options.only == "new" or (options.only == "missed" and known.place == 1)):
            continue
        try:
            entry = anyio.run(partial(measure, case, dump=options.dump))
        except (Wrong, OSError, subprocess.SubprocessError) as error:
            print(f"{case.name}: {error}", file=sys.stderr, flush=True)
        else:
            results.save({**results.load(), case.name: entry})


def cases(names: Sequence[str], kinds: Sequence[str], clones: Path | None) -> Iterator[Case]:
    """Of the wanted kinds; a fix and a mutant are cases with and without a base."""
    there = [name for name in names if name in REPOSITORIES and is_there(name, clones)]
    fixes, wide = corpus.real(there)
    made = [each.case for each in fixes] + [each.case for each in wide]
    mutants = [*corpus.mutants(names)]
    made += [partial(corpus.of_mutant, *each) for each in mutants]
    for make in made:
        case = make()
        alone = replace(case, name=f"{case.name}{results.NO_BASE}", kind=f"suspects of a {case.kind}", base=None)
        yield from (each for each in (case, alone) if each.kind in kinds and (each is alone or each.base))
    if histories.KIND in kinds:
        yield from (
            histories.of_history(*each)
            for each in mutants[:: len(mutants) // HISTORIES or 1]
            if not each[0].edit.at_import
        )


def is_there(name: str, clones: Path | None) -> bool:
    try:
        REPOSITORIES[name].prepare(clones)
    except Absent as absent:
        print(f"not measured: {absent}", file=sys.stderr, flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
