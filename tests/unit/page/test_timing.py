from pytest_mcp.api.results import TestResult
from pytest_mcp.page.timing import MOST_BARS, Bar, slowest_files, slowest_tests


def test(node_id: str, seconds: float) -> TestResult:
    return TestResult(node_id=node_id, outcome="passed", duration=seconds, message=None, traceback=None)


test.__test__ = False  # type: ignore[attr-defined]  # makes a result, and is none
TESTS = [test("a.py::one", 0.5), test("a.py::two", 0.25), test("b.py::one", 1.0), test("c.py::none", 0.0)]


def test_the_slowest_test_comes_first_and_has_the_longest_bar() -> None:
    assert slowest_tests(TESTS) == [
        Bar("b.py::one", 1.0, 100.0),
        Bar("a.py::one", 0.5, 50.0),
        Bar("a.py::two", 0.25, 25.0),
    ]


def test_a_file_takes_as_long_as_its_tests() -> None:
    assert slowest_files(TESTS) == [Bar("b.py", 1.0, 100.0), Bar("a.py", 0.75, 75.0)]


def test_there_are_few_bars() -> None:
    assert len(slowest_tests([test(f"a.py::{n}", n + 1) for n in range(100)])) == MOST_BARS
