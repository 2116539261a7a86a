"""More bugs than `make tokens` needs: a place in a list of five is not measured well with three of each library."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from bench.tokens.real import mutants, search
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import Library
from bench.tokens.real.mutants import Mutant

FILE = Path(__file__).with_name("mutants.json")
# By the name of a mutant, its first failing test. Of a file that cannot be imported any name has the same suspects.
FAILING = Path(__file__).with_name("failing.json")


def known() -> list[Mutant]:
    return [*mutants.load(), *mutants.load(FILE)]


def failing() -> dict[str, str]:
    tests: dict[str, str] = json.loads(FAILING.read_text(encoding="utf-8"))
    return tests


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
        failed = search.failures(checkout, mutant, seconds)
        print(f"{mutant.name} {mutant.edit.operator}: {len(failed)}", file=sys.stderr, flush=True)
        if 0 < len(failed) <= search.MAX_FAILING and not any("::" not in name for name in failed):
            mutants.save(sorted([*mutants.load(FILE), replace(mutant, failing=len(failed))]), FILE)
            tests = dict(sorted({**failing(), mutant.name: min(failed)}.items()))
            FAILING.write_text(json.dumps(tests, indent=1) + "\n", encoding="utf-8")
            found += 1
