"""Generated projects to measure with: a number of tests that all pass or all fail."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.project_files import write_files

# As in real projects, tests are in many files; each one is a module that pytest must import.
TESTS_PER_FILE = 100
# Short, because pytest's rewriting of asserts is the same on both sides.
PASSING = """\
def test_{number:06}():
    assert {number} >= 0


"""
# As long as a test that waits for something; it needs no core.
WAITING = """\
def test_{number:06}():
    time.sleep({seconds})


"""
# Each has a call in its traceback and its own cause, so failures cannot be grouped.
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
    # How long each passing test waits.
    seconds: float = 0.0

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
        head, test = (TOTAL, FAILING) if self.failing else ("", PASSING)
        if self.seconds:
            head, test = "import time\n\n\n", WAITING
        return head + "".join(test.format(number=number, seconds=self.seconds) for number in numbers)
