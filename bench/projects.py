"""Generated projects to measure with: so many tests, all of which pass or all of which fail."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.project_files import write_files

# Suites of real projects have many files too; each one costs pytest a module to import.
TESTS_PER_FILE = 100
# Short, because pytest's rewriting of asserts is no part of what is compared.
PASSING = """\
def test_{number:06}():
    assert {number} >= 0


"""
# Each has a call in its traceback and a cause of its own: nothing can be told once for many.
FAILING = """\
def test_{number:06}():
    assert total([{number}, 1]) == {number}


"""
TOTAL = """\
def total(numbers):
    return sum(numbers)


"""


@dataclass(frozen=True)
class Suite:
    tests: int
    failing: bool = False

    @property
    def exit_code(self) -> int:
        """What pytest exits with when it runs this."""
        return 1 if self.failing else 0

    def write(self, folder: Path) -> Path:
        """Make the project in a folder that is not there yet, and return it."""
        folder.mkdir(parents=True)
        firsts = range(0, self.tests, TESTS_PER_FILE)
        return write_files(folder, {f"test_from_{first:06}.py": self._source(first) for first in firsts})

    def _source(self, first: int) -> str:
        numbers = range(first, min(first + TESTS_PER_FILE, self.tests))
        head, test = (TOTAL, FAILING) if self.failing else ("", PASSING)
        return head + "".join(test.format(number=number) for number in numbers)
