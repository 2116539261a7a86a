"""Generated projects to measure with: a number of tests that all pass, all fail or all take long."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.projects.project_files import write_files

# As in real projects, tests are in many files; each one is a module that pytest must import.
TESTS_PER_FILE = 100
# Short, because pytest's rewriting of asserts is the same on both sides.
PASSING = """\
def test_{number:06}():
    assert {number} >= 0


"""
# Each has a call in its traceback and its own cause, so failures cannot be grouped.
FAILING = """\
def test_{number:06}():
    assert total([{number}, 1]) == {number}


"""
# As long as a test that waits for a database or a file.
SLOW_SECONDS = 0.05
SLOW = f"""\
def test_{{number:06}}():
    time.sleep({SLOW_SECONDS})


"""
TOTAL = """\
def total(numbers):
    return sum(numbers)


"""


@dataclass(frozen=True)
class Suite:
    tests: int
    failing: bool = False
    slow: bool = False

    @property
    def exit_code(self) -> int:
        """pytest's exit code for this suite."""
        return 1 if self.failing else 0

    def write(self, folder: Path) -> Path:
        """Create the project in a folder that does not exist yet, and return the folder."""
        folder.mkdir(parents=True)
        firsts = range(0, self.tests, TESTS_PER_FILE)
        return write_files(folder, {f"test_from_{first:06}.py": self._source(first) for first in firsts})

    def _source(self, first: int) -> str:
        numbers = range(first, min(first + TESTS_PER_FILE, self.tests))
        slow = ("import time\n\n\n", SLOW) if self.slow else ("", PASSING)
        head, test = (TOTAL, FAILING) if self.failing else slow
        return head + "".join(test.format(number=number) for number in numbers)
