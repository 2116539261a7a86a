"""A history of harmless commits in which one plants a mutant, and some leave a tree that cannot be imported."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import Random

from bench.suspects.corpus import AUTHOR, Case, of_mutant
from bench.suspects.repositories import git
from bench.tokens.real import search
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.mutation import applied

KIND = "history"
COMMITS = 200
UNUSABLE = 10
# Subject of the commit that is looked for.
PLANTED = "Break it"


def of_history(mutant: Mutant, node_id: str) -> Case:
    """None of its tests may know git, so the base is named by its hash."""
    case = of_mutant(mutant, node_id)
    checkout = Checkout(LIBRARIES[mutant.library])
    root = git(checkout.project, "rev-list", "--max-parents=0", "HEAD").strip()
    put = partial(planted, checkout, mutant, root)
    return replace(case, name=f"{case.name} in a history", kind=KIND, base=root, put=put)


@contextmanager
def planted(checkout: Checkout, mutant: Mutant, root: str) -> Iterator[None]:
    checkout.restore()
    git(checkout.project, "reset", "--quiet", "--hard", root)
    try:
        for number, (subject, files) in enumerate(commits(checkout, mutant)):
            for file, text in files.items():
                checkout.write(file, text)
            commit = ("commit", "--quiet", "--all", f"--message={subject} {number}")
            git(checkout.project, *AUTHOR, *commit)
        yield
    finally:
        git(checkout.project, "reset", "--quiet", "--hard", root)


def commits(checkout: Checkout, mutant: Mutant) -> Iterator[tuple[str, dict[str, str]]]:
    """Subject and files of each; a comment at the end of a file moves no line."""
    choice = Random(mutant.name)
    texts = {file: checkout.original(file) for file in search.sources(checkout)}
    at = choice.randrange(COMMITS)
    unusable = set(choice.sample(range(COMMITS - 1), UNUSABLE)) - {at, at - 1}
    for number in range(COMMITS):
        file = choice.choice(sorted(texts))
        texts[file] += f"# {number}\n"
        if number == at:
            texts[mutant.file] = applied(texts[mutant.file], mutant.edit)
        broken = {mutant.file: f"{texts[mutant.file]}(\n"} if number in unusable else {}
        yield (
            PLANTED if number == at else "Add a comment",
            {file: texts[file], mutant.file: texts[mutant.file]} | broken,
        )
