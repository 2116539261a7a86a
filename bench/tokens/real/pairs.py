"""Two bugs of one library at once: do failures of unrelated causes share a group?

A test's cause is the mutant that fails it alone; tests that both fail, or neither, are left out. The groups are those
of `detail: full`, which are the same at every budget.
"""

import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bench.tokens import groups
from bench.tokens.real import evidence, measure, runs
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.results import Pair


def pairs(mutants: Sequence[Mutant]) -> list[tuple[Mutant, Mutant]]:
    """Those of one library; a bug that breaks an import leaves nothing to mix."""
    return [
        (one, two)
        for one, two in combinations([mutant for mutant in mutants if not mutant.edit.at_import], 2)
        if one.library == two.library
    ]


def mixed(one: Mutant, two: Mutant) -> Pair:
    print(f"{one.name} + {two.name}", file=sys.stderr, flush=True)
    checkout = Checkout(LIBRARIES[one.library])
    checkout.prepare()
    causes = known_causes({mutant.name: failing(checkout, mutant) for mutant in (one, two)})
    with checkout.changed([one, two]):
        answer = measure.ask(checkout, detail="full")
    return judged(one.library, answer, causes)


def failing(checkout: Checkout, mutant: Mutant) -> set[str]:
    """What it fails alone; that is known when it was measured before."""
    kept = measure.recall(mutant)
    if kept is None:
        with checkout.changed([mutant]):
            kept = measure.keep(mutant, runs.run_all(checkout))
    return set(kept.short)


def known_causes(failed: Mapping[str, set[str]]) -> dict[str, str]:
    """The cause of each test that exactly one mutant fails."""
    return {
        node_id: name
        for name, ids in failed.items()
        for node_id in ids
        if sum(node_id in others for others in failed.values()) == 1
    }


def judged(library: str, answer: Any, causes: Mapping[str, str]) -> Pair:
    """Members beyond those that are named cannot be judged."""
    told = [(group, groups.members(group, answer)) for group in answer["failure_groups"]]
    merged = [
        str(group["message"])
        for group, members in told
        if len({causes[member] for member in members if member in causes}) > 1
    ]
    untold = sum(max(group["count"] - len(members), 0) for group, members in told)
    return Pair(library, evidence.causes(answer), tuple(merged), untold)
