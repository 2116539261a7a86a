"""The generated projects: a small shop, its tests, and the facts about them that an answer must contain.

Nothing is run here. `truth` compares an answer with these facts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.tokens import names, sources
from bench.tokens.sources import CAUSES, Cause
from tests.support.projects.project_files import write_files


@dataclass(frozen=True)
class Uncollected:
    """A file that cannot be imported."""

    file: str
    line: int
    error_type: str
    cause: str


@dataclass(frozen=True)
class Project:
    """`skipped` includes expected failures, as the server counts them."""

    files: Mapping[str, str]
    node_ids: tuple[str, ...]
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    causes: tuple[Cause, ...] = ()
    # What differs in a failed comparison.
    diff: tuple[str, ...] = ()
    uncollected: tuple[Uncollected, ...] = ()

    @property
    def exit_code(self) -> int:
        """pytest's exit code for this project."""
        if self.uncollected:
            return 2
        return 1 if self.failed or self.errors else 0

    def write(self, folder: Path) -> Path:
        """Make the project in a folder that is not there yet, and return it."""
        return write_files(folder, {**sources.PACKAGE, **self.files})


def suite(count: int, test: str, *, head: str = sources.HEAD) -> Project:
    """`count` tests, each from this source; the outcomes are not set."""
    files: dict[str, str] = {}
    named = names.tests(count)
    for number, (file, name) in enumerate(named):
        files[file] = files.get(file, head) + test.format(name=name, number=number)
    return Project(files, tuple(f"{file}::{name}" for file, name in named))


def passing(count: int) -> Project:
    return replace(suite(count, sources.PASSING), passed=count)


def one_failing() -> Project:
    return replace(suite(1, sources.FAILING), failed=1, causes=(Cause("assert 3 == 4", "tests/test_orders.py"),))


def mixed() -> Project:
    """A few failures of each kind, and two hundred tests that pass."""
    green = passing(200)
    return replace(
        green,
        files={**green.files, sources.CHECKOUT_FILE: sources.CHECKOUT},
        node_ids=(*green.node_ids, *(f"{sources.CHECKOUT_FILE}::{name}" for name in sources.CHECKOUT_TESTS)),
        failed=3,
        errors=1,
        skipped=3,
        causes=sources.CHECKOUT_CAUSES,
        diff=sources.RECEIPT_DIFF,
    )


def hanging(count: int) -> Project:
    """So many tests that pass, the few failures, and one test that never ends."""
    green, red = passing(count), mixed()
    files = {**green.files, sources.CHECKOUT_FILE: sources.CHECKOUT, sources.WAITS_FILE: sources.WAITS}
    return replace(green, files=files, failed=red.failed, errors=red.errors, causes=red.causes)


def uncollected() -> Project:
    """The same with two files that cannot be imported; pytest then runs no test."""
    broken = (
        Uncollected(
            "tests/test_gifts.py", line_of(sources.SYNTAX, "assert wrapped("), "SyntaxError", "was never closed"
        ),
        Uncollected(
            "tests/test_stores.py",
            line_of(sources.IMPORTS, "from shop.stores"),
            "ModuleNotFoundError",
            "No module named 'shop.stores'",
        ),
    )
    files = {**mixed().files, broken[0].file: sources.SYNTAX, broken[1].file: sources.IMPORTS}
    return Project(files, (), errors=len(broken), uncollected=broken)


def one_fixture(count: int) -> Project:
    """Tests that need the same broken fixture."""
    bare = suite(count, sources.NEEDING)
    return replace(
        bare, files={**bare.files, "tests/conftest.py": sources.CONFTEST}, errors=count, causes=(sources.NO_DATABASE,)
    )


def deep(count: int) -> Project:
    """Tests that fail in one place, many calls deep, each after much output."""
    loud = suite(count, sources.DEEP, head="from shop import checkout\n")
    return replace(loud, files={**loud.files, **sources.chain()}, failed=count, causes=(sources.NO_RATE,))


def noisy(count: int) -> Project:
    """Failures of twelve causes, with messages that differ from test to test."""
    loud = suite(count, sources.NOISY, head="from shop import noise\n")
    return replace(loud, files={**loud.files, "shop/noise.py": sources.NOISE}, failed=count, causes=CAUSES)


def line_of(source: str, words: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), start=1) if words in line)
