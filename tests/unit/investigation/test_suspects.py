"""How suspicious functions are: Ochiai by its definition on sets, and what decides between equals.

What is traced is tested on real runs.
"""

import math

from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.investigation.suspects import Clues, ranked, scores, suspects_of
from pytest_mcp.run.recordings import Executed, Line
from pytest_mcp.text import MAX_NAME
from tests.support.invented.records import execution, one_test, phase, session

TEST = "test_shop.py::test_it"


def test_names_that_the_child_tells_are_one_line_of_limited_length() -> None:
    """A test can give a code object any name, and write records itself."""
    executed = Executed(TEST, {"shop\x1b[31m.py" + 9_999 * "y": [("price\n" + 9_999 * "x", "1-3")]}, [], complete=True)

    (found,) = suspects_of(execution(session(one_test(TEST, phase(TEST)), executed, selected=1)), TEST, {})

    assert max(len(found.file), len(found.function)) <= 2 * MAX_NAME
    assert "\n" not in found.function
    assert "\x1b" not in found.file


# Each test runs some of nine lines: three functions of three lines.
NUMBERS = range(1, 10)
runs = st.frozensets(st.sampled_from(NUMBERS))


def function_of(number: int) -> str:
    return f"f{(number - 1) // 3}"


def ran(numbers: frozenset[int] | set[int], test: str = "t") -> Executed:
    return Executed(test, {"a.py": [(function_of(number), str(number)) for number in sorted(numbers)]}, [], True)


def line(number: int) -> Line:
    return Line("a.py", function_of(number), number)


@given(target=runs, alike=st.lists(runs, max_size=4), passed=st.lists(runs, max_size=6))
def test_a_line_is_scored_as_the_definition_by_sets_says(
    target: frozenset[int], alike: list[frozenset[int]], passed: list[frozenset[int]]
) -> None:
    scored = scores(ran(target).lines(), [*map(ran, alike)], [], [*map(ran, passed)])

    failing = [target, *alike]
    assert scored.keys() == {line(number) for number in target}
    for number in target:
        failed_here = [test for test in failing if number in test]
        run_here = failed_here + [test for test in passed if number in test]
        expected = len(failed_here) / math.sqrt(len(failing) * len(run_here))
        assert math.isclose(scored[line(number)], expected)


@given(target=runs, otherwise=st.lists(runs, max_size=4), passed=st.lists(runs, max_size=6))
def test_ranks_name_each_function_once_by_one_of_its_best_lines(
    target: frozenset[int], otherwise: list[frozenset[int]], passed: list[frozenset[int]]
) -> None:
    scored = scores(ran(target).lines(), [], [*map(ran, otherwise)], [*map(ran, passed)])

    found = ranked(scored, Clues())

    assert sorted(each.function for each, _ in found) == sorted({function_of(number) for number in target})
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    for each, score in found:
        best = max(value for other, value in scored.items() if other.function == each.function)
        assert score == scored[each] == best
        assert 0 < score <= 1


def ranks(scored: dict[int, float], clues: Clues) -> list[str]:
    return [each.function for each, _ in ranked({line(n): score for n, score in scored.items()}, clues)]


def test_of_equals_what_was_changed_comes_first_then_the_innermost_frame_then_the_last_call() -> None:
    equal = {1: 0.5, 4: 0.5, 7: 0.5}

    assert ranks(equal, Clues(frames=[("a.py", 7), ("a.py", 4)])) == ["f2", "f1", "f0"]
    assert ranks(equal, Clues(calls=[("a.py", "f1"), ("a.py", "f2")])) == ["f1", "f2", "f0"]
    assert ranks(equal, Clues(frames=[("a.py", 7)], calls=[("a.py", "f1")])) == ["f2", "f1", "f0"]
    clues = Clues([("a.py", 4)], [("a.py", "f1"), ("a.py", "f0")], {"a.py": frozenset({7, 8})})
    assert ranks(equal, clues) == ["f2", "f1", "f0"]


def test_of_equal_lines_in_a_function_a_changed_one_is_named_then_one_of_the_traceback_then_the_first() -> None:
    scored = {line(1): 0.5, line(2): 0.5, line(3): 0.5}

    def named(clues: Clues) -> int:
        ((found, _),) = ranked(scored, clues)
        return found.number

    assert named(Clues()) == 1
    assert named(Clues(frames=[("a.py", 2)])) == 2
    assert named(Clues(frames=[("a.py", 2)], changed={"a.py": frozenset({3})})) == 3


def test_a_clue_does_not_outweigh_a_much_better_score() -> None:
    clues = Clues(frames=[("a.py", 4)], calls=[("a.py", "f1")])

    assert ranks({1: 0.9, 4: 0.3}, clues) == ["f0", "f1"]


def test_a_function_that_is_nearest_in_every_way_keeps_its_score() -> None:
    clues = Clues(frames=[("a.py", 4)], calls=[("a.py", "f1")])

    assert ranked({line(4): 0.7}, clues) == [(line(4), 0.7)]
