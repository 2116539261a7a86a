"""The bugs that every run measures: real fixes that are taken back, one line inside a wide diff, and mutants.

Each becomes a case: a tree with the bug, a test that it fails, a base where the test passes, and where the bug is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter

from bench.suspects import more, scopes
from bench.suspects.repositories import REPOSITORIES, Repository, git
from bench.suspects.truth import MODULE, function_at
from bench.tokens.real.checkouts import Checkout
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.mutation import Edit, applied
from bench.tokens.real.runs import Place

FIXES, WIDE = (Path(__file__).with_name(name) for name in ("fixes.json", "wide.json"))
Lines = Mapping[str, frozenset[int]]
AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Case:
    """`faulty` are scopes, `now` the changed lines of the tree with the bug and `then` those of its base."""

    name: str
    kind: str
    library: str
    holdout: bool
    node_id: str
    # None: there is no base where the test passes, or the test cannot be imported.
    base: str | None
    # Where its suspects are looked for; without a base only.
    tests: str
    place: Place
    faulty: frozenset[tuple[str, str]]
    now: Lines
    then: Lines
    put: Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, order=True)
class Fix:
    """A commit of which one test fails alone where only its source is taken back."""

    library: str
    commit: str
    node_id: str

    def case(self) -> Case:
        repository = REPOSITORIES[self.library]
        names = git(repository.project, "diff", "--name-only", "--no-renames", f"{self.commit}^", self.commit)
        files = sources(repository, names.splitlines())
        texts = {file: (repository.text(self.commit, file), repository.text(f"{self.commit}^", file)) for file in files}
        code = {file: both for file, both in texts.items() if file.endswith(".py")}
        diff = ("diff", "-U0", "--no-renames", self.commit, f"{self.commit}^", "--")
        sides = {file: scopes.sides(git(repository.project, *diff, file)) for file in code}

        @contextmanager
        def put() -> Iterator[None]:
            repository.check_out(self.commit)
            git(repository.project, "restore", f"--source={self.commit}^", "--worktree", "--", *files)
            yield

        return Case(
            name=f"{self.library}-{self.commit[:9]}",
            kind="fix",
            library=self.library,
            holdout=repository.holdout,
            node_id=self.node_id,
            base="HEAD",
            tests=repository.tests,
            place=repository,
            faulty=frozenset((file, name) for file, both in code.items() for name in scopes.changed(*both)),
            now={file: frozenset(after) for file, (_, after) in sides.items()},
            then={file: frozenset(before) for file, (before, _) in sides.items()},
            put=put,
        )


@dataclass(frozen=True, order=True)
class Wide:
    """One changed line in `commit`; the test passes there without it, and at `base`, many changed functions before."""

    library: str
    base: str
    commit: str
    file: str
    edit: Edit
    node_id: str

    def case(self) -> Case:
        repository = REPOSITORIES[self.library]
        source, before = (repository.text(commit, self.file) for commit in (self.commit, self.base))
        same = [number for number, line in enumerate(before.splitlines(), 1) if line == self.edit.before]

        @contextmanager
        def put() -> Iterator[None]:
            repository.check_out(self.commit)
            (repository.project / self.file).write_bytes(applied(source, self.edit).encode("utf-8"))
            yield

        return Case(
            name=f"{self.library}-{self.commit[:9]}-{Path(self.file).stem}-{self.edit.line}",
            kind="wide",
            library=self.library,
            holdout=repository.holdout,
            node_id=self.node_id,
            base=self.base,
            tests=repository.tests,
            place=repository,
            faulty=frozenset([(self.file, function_at(source, self.edit.line))]),
            now={self.file: frozenset([self.edit.line])},
            then={self.file: frozenset(same)},
            put=put,
        )


def of_mutant(mutant: Mutant, node_id: str) -> Case:
    checkout = Checkout(LIBRARIES[mutant.library])
    checkout.prepare()
    _commit_all(checkout.project)
    # Where the import fails, the line that breaks it is the truth, whatever function it is in.
    at_line = function_at(checkout.original(mutant.file), mutant.edit.line)
    lines = {mutant.file: frozenset([mutant.edit.line])}
    return Case(
        name=mutant.name,
        kind="mutant",
        library=mutant.library,
        holdout=checkout.library.holdout,
        node_id=node_id,
        base=None if mutant.edit.at_import else "HEAD",
        tests=checkout.library.tests,
        place=checkout,
        faulty=frozenset([(mutant.file, MODULE if mutant.edit.at_import else at_line)]),
        now=lines,
        then=lines,
        put=partial(checkout.changed, [mutant]),
    )


def _commit_all(project: Path) -> None:
    """Its own repository: the next one above would be ours, which ignores the folder."""
    if not (project / ".git").exists():
        git(project, "init", "--quiet")
        git(project, "add", "--all")
        git(project, *AUTHOR, "commit", "--quiet", "--message=The original")


def sources(repository: Repository, files: Sequence[str]) -> list[str]:
    """Without the tests, which some libraries have inside their package."""
    inside = [PurePosixPath(file) for file in files if PurePosixPath(file).is_relative_to(repository.source)]
    return [str(path) for path in inside if not {"test", "tests"} & set(path.parts) and path.name != "conftest.py"]


def mutants(names: Sequence[str]) -> Iterator[tuple[Mutant, str]]:
    failing = more.failing()
    return ((mutant, failing[mutant.name]) for mutant in more.known() if mutant.library in names)


def real(names: Sequence[str]) -> tuple[list[Fix], list[Wide]]:
    fixes = TypeAdapter(list[Fix]).validate_json(FIXES.read_bytes())
    wide = TypeAdapter(list[Wide]).validate_json(WIDE.read_bytes())
    return [each for each in fixes if each.library in names], [each for each in wide if each.library in names]
