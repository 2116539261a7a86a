"""Find mutants that a library's own suite catches, in an order that a fixed seed decides; see `mutants.json`."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from bench.tokens.real import mutation, runs
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import Library
from bench.tokens.real.mutants import Mutant

SEED = 14
PER_LIBRARY = 3
# A bug that fails more than this share of the failures of a library's tests says the same as one that fails all.
MOST_FAILING = 150
# Gives up on a library that catches almost nothing.
MOST_TRIED = 40


def found(library: Library, *, at_import: bool = False) -> list[Mutant]:
    """Of different operators, or one that breaks the import of tests."""
    checkout = Checkout(library)
    checkout.prepare()
    caught: list[Mutant] = []
    for mutant in tried(checkout, at_import=at_import):
        if mutant.edit.operator in {other.edit.operator for other in caught}:
            continue
        failing = failures(checkout, mutant)
        broken = any("::" not in name for name in failing)
        print(f"{mutant.name} {mutant.edit.operator}: {len(failing)}", file=sys.stderr, flush=True)
        if 0 < len(failing) <= MOST_FAILING and broken == at_import:
            caught.append(replace(mutant, failing=len(failing)))
        if len(caught) == (1 if at_import else PER_LIBRARY):
            break
    return caught


def tried(checkout: Checkout, *, at_import: bool) -> Iterator[Mutant]:
    library = checkout.library
    made = [
        Mutant(library.name, library.version, file, edit, 0)
        for file in sources(checkout)
        for edit in mutation.edits(checkout.original(file))
        if edit.at_import == at_import
    ]
    Random(f"{SEED} {library.name} {at_import}").shuffle(made)
    count = 0
    for mutant in made:
        if count < MOST_TRIED and is_python(mutation.applied(checkout.original(mutant.file), mutant.edit)):
            count += 1
            yield mutant


def is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def sources(checkout: Checkout) -> list[str]:
    """Not the tests, which some libraries have inside their package."""
    folder = checkout.project / checkout.library.source
    files = [path.relative_to(checkout.project) for path in sorted(folder.rglob("*.py"))]
    return [str(path) for path in files if not {"tests", "test", "sandbox"} & set(Path(path).parts)]


def failures(checkout: Checkout, mutant: Mutant) -> set[str]:
    """Empty where the suite does not end, or fails otherwise the next time."""
    try:
        with checkout.changed([mutant]):
            first = failing(checkout)
            return first if first and first == failing(checkout) else set()
    except subprocess.TimeoutExpired:
        return set()


def failing(checkout: Checkout) -> set[str]:
    return set(runs.probed(checkout, "-q", "--tb=no", checkout.library.tests).failures)
