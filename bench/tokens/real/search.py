"""Find mutants that a library's own suite catches, in an order that a fixed seed decides; see `mutants.json`."""

import ast
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from bench.shell import Wrong
from bench.tokens.real import mutation, runs
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import Library
from bench.tokens.real.mutants import Mutant

SEED = 14
PER_LIBRARY = 3
# A bug that fails more says nothing that these do not say.
MAX_FAILING = 150
# A bug that makes the suite wait says little, and says it at every run.
SLOWEST = 3
# Gives up on a library that catches almost nothing.
MAX_TRIED = 40


def found(library: Library) -> list[Mutant]:
    checkout = Checkout(library)
    checkout.prepare()
    return [*caught(checkout), *(caught(checkout, at_import=True) if library.import_bug else [])]


def caught(checkout: Checkout, *, at_import: bool = False) -> list[Mutant]:
    """Of different operators; or one that breaks the import of tests."""
    kept: list[Mutant] = []
    seconds = SLOWEST * usual_seconds(checkout)
    for mutant in tried(checkout, at_import=at_import):
        if mutant.edit.operator in {other.edit.operator for other in kept}:
            continue
        failed = failures(checkout, mutant, seconds)
        broken = any("::" not in name for name in failed)
        print(f"{mutant.name} {mutant.edit.operator}: {len(failed)}", file=sys.stderr, flush=True)
        if 0 < len(failed) <= MAX_FAILING and broken == at_import:
            kept.append(replace(mutant, failing=len(failed)))
        if len(kept) == (1 if at_import else PER_LIBRARY):
            break
    return kept


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
        if count < MAX_TRIED and is_python(mutation.applied(checkout.original(mutant.file), mutant.edit)):
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


def failures(checkout: Checkout, mutant: Mutant, seconds: float) -> set[str]:
    """Empty where the suite takes longer, or fails otherwise the next time."""
    try:
        with checkout.changed([mutant]):
            first = failing(checkout, seconds)
            return first if first and first == failing(checkout, seconds) else set()
    except subprocess.TimeoutExpired:
        return set()


def usual_seconds(checkout: Checkout) -> float:
    """Of the suite as it is, which must pass."""
    started = time.perf_counter()
    if failing(checkout, runs.MAX_RUN):
        raise Wrong(f"the suite of {checkout.library.name} fails without a bug")
    return time.perf_counter() - started


def failing(checkout: Checkout, seconds: float) -> set[str]:
    return set(runs.probed(checkout, "-q", "--tb=no", checkout.library.tests, seconds=seconds).failures)
