"""Which functions each test has executed, as the child tells it.

Pure. A process tells each function once, by file and qualified name, and from then on by its number. A record that does
not continue the numbers of its process shows that one was lost: then nothing of that process is known.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from pytest_mcp.events.model import Event, event
from pytest_mcp.events.spectrum import parse_ranges

# The most functions of one process.
MOST_FUNCTIONS = 1_000_000


class Function(NamedTuple):
    file: str
    # As Python names it; what of the file it stands for is decided in `history.executed`.
    name: str


@event
class Told(Event):
    """What both kinds have: the process, its new functions with the number of the first, and ranges of numbers."""

    process: int
    first: int
    new: list[list[str]]
    ran: str

    def __post_init__(self) -> None:
        if any(len(pair) != 2 for pair in self.new):
            raise ValueError("not a file and a name")
        numbers(self.ran)


@event
class ExecutedFunctions(Told):
    """`opaque`: the test also started processes or read source files, which no recorder sees."""

    kind = "executed_functions"
    id: str
    opaque: bool


@event
class OutsideFunctions(Told):
    """The last record of a process: what ran outside of tests, and state that tests left to each other.

    `imports` are pairs of a module's file and what ran while it was imported, before the first test.
    Each of `states` has the tests that changed it, by their place among the records of tests; the functions that
    count, if it is a counter; those that can use it; and, if it belongs to a class, those with a way to that class.
    `given` are tests that get objects by parameters, so they have a way to every class. `unseen` are files that were
    imported before the recorder began; `whole` says whether all that ran outside of tests is known.
    """

    kind = "outside_functions"
    imports: list[list[str]]
    states: list[list[str]]
    given: str
    unseen: list[str]
    whole: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(state) != 4 for state in self.states):
            raise ValueError("not tests and three lists of functions")
        if any(len(pair) != 2 for pair in self.imports):
            raise ValueError("not a file and functions")
        for text in chain([self.given], *self.states, (ran for _, ran in self.imports)):
            numbers(text)


def numbers(text: str) -> set[int]:
    return set(_numbers(text)) if text else set()


def _numbers(text: str) -> Iterator[int]:
    for first, last in parse_ranges(text):
        if last >= MOST_FUNCTIONS:
            raise ValueError("too many functions")
        yield from range(first, last + 1)


@dataclass(frozen=True)
class TestFunctions:
    # It is not a test class for pytest.
    __test__ = False

    functions: frozenset[Function]
    opaque: bool


@dataclass
class Executions:
    """What is known of a run: by test, outside of tests, and files of which nothing is known."""

    tests: dict[str, TestFunctions] = field(default_factory=dict)
    outside: set[Function] = field(default_factory=set)
    # By the file of a module.
    imports: dict[str, set[Function]] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)
    whole: bool = True


def executions(told: Iterable[Told]) -> Executions:
    processes: dict[int, list[Told]] = {}
    for each in told:
        processes.setdefault(each.process, []).append(each)
    found = Executions()
    for events in processes.values():
        _add(found, events)
    return found


def _add(found: Executions, events: list[Told]) -> None:
    table: list[Function] = []
    for each in events:
        if each.first != len(table):
            return
        table += [Function(*pair) for pair in each.new]
    last = events[-1]
    # A process that was killed has not told what ran outside of its tests.
    if not isinstance(last, OutsideFunctions) or len(table) > MOST_FUNCTIONS:
        return
    tests = [each for each in events if isinstance(each, ExecutedFunctions)]
    executed = _with_states([numbers(test.ran) for test in tests], last)
    for test, numbered in zip(tests, executed, strict=True):
        functions = frozenset(table[number] for number in numbered if number < len(table))
        found.tests[test.id] = TestFunctions(functions, test.opaque)
    found.outside.update(table[number] for number in numbers(last.ran) if number < len(table))
    for file, ran in last.imports:
        known = {table[number] for number in numbers(ran) if number < len(table)}
        found.imports.setdefault(file, set()).update(known)
    found.unseen.update(last.unseen)
    found.whole = found.whole and last.whole


def _with_states(own: list[set[int]], last: OutsideFunctions) -> list[set[int]]:
    """A test that uses state may use what other tests have made of it, by all that they executed or used."""
    given = numbers(last.given)
    states = [_State(*map(numbers, state)) for state in last.states]
    users = [[test for test, ran in enumerate(own) if state.is_used(ran, test in given)] for state in states]
    found = [set(ran) for ran in own]
    size = -1
    while size != (size := sum(map(len, found))):
        for state, using in zip(states, users, strict=True):
            made = state.counting.union(*(found[test] for test in state.tests if test < len(found)))
            for test in using:
                found[test] |= made
    return found


class _State(NamedTuple):
    tests: set[int]
    counting: set[int]
    using: set[int]
    leading: set[int]

    def is_used(self, ran: set[int], is_given: bool) -> bool:
        if ran.isdisjoint(self.using):
            return False
        return is_given or not self.leading or not ran.isdisjoint(self.leading)
