"""Which functions each test has executed, as the child tells it.

Pure. A process tells each function once, by file and qualified name, and from then on by its number. A record that does
not continue the numbers of its process shows that one was lost: then nothing of that process is known.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

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
    """The last record of a process: what ran outside of tests, and under functions that keep state.

    `states` are pairs of such a function and what ran under it; `shared` are, for each state that can outlive a test,
    the functions that change it and those that mention it; `unseen` are files that were imported before the
    recorder began; `whole` says whether all that ran outside of tests is known.
    """

    kind = "outside_functions"
    states: list[Any]
    shared: list[list[str]]
    unseen: list[str]
    whole: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        for pair in self.states:
            if type(pair) is not list or [type(each) for each in pair] != [int, str]:
                raise ValueError("not a function and what ran under it")
            numbers(pair[1])
        if any(len(pair) != 2 for pair in self.shared):
            raise ValueError("not writers and readers")
        for text in chain.from_iterable(self.shared):
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
    states = {key: numbers(under) for key, under in last.states}
    tests = [each for each in events if isinstance(each, ExecutedFunctions)]
    ran = [_with_states(numbers(each.ran), states) for each in tests]
    _share(ran, [(numbers(writers), numbers(readers)) for writers, readers in last.shared])
    for test, numbered in zip(tests, ran, strict=True):
        known = frozenset(table[number] for number in numbered if number < len(table))
        found.tests[test.id] = TestFunctions(known, test.opaque)
    found.outside.update(table[number] for number in numbers(last.ran) if number < len(table))
    found.unseen.update(last.unseen)
    found.whole = found.whole and last.whole


def _with_states(ran: set[int], states: dict[int, set[int]]) -> set[int]:
    """With all that ran under a function whose state this test may have used."""
    todo = list(ran & states.keys())
    done: set[int] = set()
    while todo:
        key = todo.pop()
        if key not in done:
            done.add(key)
            ran |= states[key]
            todo += states[key] & states.keys()
    return ran


def _share(tests: list[set[int]], shared: list[tuple[set[int], set[int]]]) -> None:
    """A test that uses state which it has not changed itself may use what any other test has made of it."""
    own = [frozenset(ran) for ran in tests]
    for writers, readers in shared:
        made = frozenset[int]().union(*(ran for ran in own if not ran.isdisjoint(writers)))
        for ran, all_of_it in zip(own, tests, strict=True):
            if ran.isdisjoint(writers) and not ran.isdisjoint(readers):
                all_of_it.update(made)
