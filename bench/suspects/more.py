"""More bugs than `make tokens` needs: a place in a list of five is not measured well with three of each library."""

import sys
from dataclasses import replace
from pathlib import Path

from bench.tokens.real import mutants, search
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import Library
from bench.tokens.real.mutants import Mutant

FILE = Path(__file__).with_name("mutants.json")


def known() -> list[Mutant]:
    return [*mutants.load(), *mutants.load(FILE)]


def find(library: Library, count: int) -> None:
    """So many of a library, in the order of its search, whatever their operator. Each is kept at once."""
    checkout = Checkout(library)
    checkout.prepare()
    seconds = search.SLOWEST * search.usual_seconds(checkout)
    have = {(mutant.file, mutant.edit) for mutant in known()}
    found = sum(mutant.library == library.name for mutant in mutants.load(FILE))
    for mutant in search.tried(checkout, at_import=False):
        if found >= count:
            return
        if (mutant.file, mutant.edit) in have:
            continue
        failing = len(search.failures(checkout, mutant, seconds))
        print(f"{mutant.name} {mutant.edit.operator}: {failing}", file=sys.stderr, flush=True)
        if 0 < failing <= search.MAX_FAILING:
            mutants.save(sorted([*mutants.load(FILE), replace(mutant, failing=failing)]), FILE)
            found += 1
