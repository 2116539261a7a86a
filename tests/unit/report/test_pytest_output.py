import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report.pytest_output import condense, missed_threshold, tables, telling_closing_line

RUN = """\
============================= test session starts ==============================
platform linux -- Python 3.12.1, pytest-8.4.0, pluggy-1.6.0
cachedir: .pytest_cache
rootdir: /project
configfile: pyproject.toml
testpaths: tests
plugins: cov-5.0.0, xdist-3.6.1
collected 3 items
run-last-failure: rerun previous 1 failure

tests/test_a.py .F                                                       [ 66%]
tests/test b.py s                                                        [100%]

=================================== FAILURES ===================================
___________________________________ test_one ___________________________________

    def test_one():
>       assert 0
E       assert 0

tests/test_a.py:2: AssertionError
=============================== warnings summary ===============================
tests/test_a.py::test_one
  /project/tests/test_a.py:1: DeprecationWarning: old
    import old

-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html
Required test coverage of 80% not reached. Total coverage: 71.00%
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 0
==================== 1 failed, 1 passed, 1 skipped in 0.05s ====================
"""


def test_of_a_whole_run_only_what_no_other_key_holds_remains() -> None:
    """Warnings are told by notices; what a plugin says below them is not."""
    assert condense(RUN) == "Required test coverage of 80% not reached. Total coverage: 71.00%"


@pytest.mark.parametrize(
    "progress",
    [
        ".",
        "..F.sxXE                                      [100%]",
        "tests/test_a.py .F.                           [ 50%]",
        "tests/test_a.py::test_one PASSED              [ 50%]",
        "tests/test_a.py::test_one[a b] SKIPPED (why)  [ 50%]",
        "[gw1] [ 50%] PASSED tests/test_a.py::test_one",
        "                                              [100%]",
        "                                              [7/7]",
        "collecting ... collected 2 items",
        "created: 2/2 workers",
        "bringing up nodes...",
        "[gw0] linux Python 3.11.7 cwd: /project",
        "[gw1] Python 3.11.7 (main, Jan  1 2026, 10:00:00) -- [GCC 12.2.0]",
        "2 workers [10 items]",
        "rootdir: /project",
    ],
)
def test_progress_and_the_header_are_left_out(progress: str) -> None:
    assert condense(f"{progress}\n1 passed in 0.01s\n") == ""


@pytest.mark.parametrize(
    "said",
    [
        "something a conftest printed",
        "ERROR: Coverage failure: total of 50 is less than fail-under=80",
        "deploy check FAILED: 3 of 7 hosts",
        "my-plugin: 2 requests ended in ERROR",
        "=== a section of a plugin ===",
        "slowest durations",
    ],
)
def test_what_hooks_and_plugins_say_stays(said: str) -> None:
    assert condense(f".\n{said}\n1 passed in 0.01s\n") == said


@pytest.mark.parametrize(
    "closing",
    [
        "1 passed in 0.01s",
        "========= 1 failed, 2 passed in 0.12s =========",
        "==== 100 passed in 75.01s (0:01:15) ====",
        "no tests ran in 0.00s",
        "==== no tests collected in 0.01s ====",
    ],
)
def test_the_closing_line_ends_every_section(closing: str) -> None:
    stdout = f"==== FAILURES ====\nsecret\n==== short test summary info ====\nFAILED a\n{closing}\nafter it\n"

    assert condense(stdout) == "after it"


def test_coloured_output_is_recognised_and_what_stays_keeps_its_colours() -> None:
    stdout = (
        "\x1b[1m=== test session starts ===\x1b[0m\n"
        "test_a.py \x1b[32m.\x1b[0m\x1b[32m      [100%]\x1b[0m\n"
        "\x1b[33ma hook speaks\x1b[0m\n"
        "\x1b[32m=== \x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m\x1b[32m ===\x1b[0m\n"
    )

    assert condense(stdout) == "\x1b[33ma hook speaks\x1b[0m"


def test_nothing_is_condensed_to_nothing() -> None:
    assert condense("") == ""


@given(st.lists(st.sampled_from([*RUN.splitlines(), "", "hello", "=== FAILURES ===", "1 passed in 0.01s"])))
def test_only_whole_lines_are_left_out_and_their_order_stays(lines: list[str]) -> None:
    kept = condense("\n".join(lines)).splitlines()

    rest = iter(lines)
    assert all(line in rest for line in kept)
    assert condense("\n".join(kept)) == "\n".join(kept)


@pytest.mark.parametrize(
    "closing",
    [
        "16 failed, 1975 passed, 31000 deselected in 7.9s",
        "1 passed, 1 xfailed in 0.05s",
        "1 passed, 1 xpassed in 75.01s (0:01:15)",
        "1 passed, 2 rerun in 0.05s",
        "1 passed, 1 deselected, 3 warnings in 0.05s",
        "no tests collected (3 deselected) in 0.01s",
    ],
)
def test_the_closing_line_is_told_where_it_has_a_count_that_the_summary_lacks(closing: str) -> None:
    painted = f"\x1b[32m===== \x1b[1m{closing}\x1b[0m =====\x1b[0m"

    for line in (closing, f"==== {closing} ====", painted):
        assert telling_closing_line(f"{RUN}{line}\nafter it\n") == closing


@pytest.mark.parametrize(
    "stdout",
    ["", "hello", RUN, "1 passed in 0.05s", "no tests ran in 0.01s", "2 failed, 1 passed, 1 skipped, 1 error in 1s"],
)
def test_without_such_a_count_the_closing_line_is_left_out(stdout: str) -> None:
    assert telling_closing_line(stdout) == ""


@pytest.mark.parametrize("line", [RUN.splitlines()[-4], f"\x1b[31m\x1b[1mFAIL {RUN.splitlines()[-4]}\x1b[0m"])
def test_what_is_said_of_a_coverage_that_is_too_low_is_found(line: str) -> None:
    printed = f"..\n{line}\n2 passed in 0.05s\n"

    assert missed_threshold(printed) == "Required test coverage of 80% not reached. Total coverage: 71.00%"
    assert missed_threshold(f"print('{line}')\n") is None


def test_without_a_closing_line_everything_stays() -> None:
    assert condense("a warning\nsaid a plugin") == "a warning\nsaid a plugin"


@pytest.mark.parametrize(
    ("line", "unreached", "left"),
    [
        ("31 passed, 949 deselected in 1.20s", 949, ""),
        ("31 passed, 949 deselected, 1 xfailed in 1.20s", 949, "31 passed, 1 xfailed in 1.20s"),
        ("31 passed, 949 deselected in 1.20s", 900, "31 passed, 49 deselected in 1.20s"),
        ("980 deselected in 1.20s", 980, ""),
        ("980 deselected, 1 warning in 1.20s", 980, ""),
        ("31 passed, 949 deselected in 1.20s", 0, "31 passed, 949 deselected in 1.20s"),
    ],
)
def test_tests_that_a_change_cannot_reach_are_not_called_deselected(line: str, unreached: int, left: str) -> None:
    assert telling_closing_line(f"==== {line} ====\n", unreached=unreached) == left


FOR_PEOPLE = """\
================================ tests coverage ================================
_______________ coverage: platform linux, python 3.11.7-final-0 ________________

Name           Stmts   Miss  Cover   Missing
--------------------------------------------
src/a.py          20      5    75%   3-5, 9
src/b c.py        10      0   100%
--------------------------------------------
TOTAL             30      5    83%

1 file skipped due to complete coverage.
Coverage HTML written to dir htmlcov
Required test coverage of 80% reached. Total coverage: 83.33%
============================= slowest 3 durations ==============================
1.01s call     tests/test_a.py::test_one
0.50s setup    tests/test_a.py::test_two

(1 durations < 0.005s hidden.  Use -vv to show these durations.)
------------------------- benchmark: 2 tests -------------------------
Name (time in ns)          Min                 Max          Rounds
----------------------------------------------------------------------
test_fast             120.0000 (1.0)      300.0000 (1.2)      1000
test_slow             240.0000 (2.0)      900.0000 (3.2)      1000
----------------------------------------------------------------------

Legend:
  Outliers: 1 Standard Deviation from Mean; 1.5 IQR from 1st Quartile.
  OPS: Operations Per Second, computed as 1 / Mean
 tests/test_a.py ✓✓✓                                            100% ██████████
"""


def test_what_plugins_print_for_people_is_apart() -> None:
    said = f"first words of a plugin\n{FOR_PEOPLE}last words of a plugin\n"

    assert condense(said) == "first words of a plugin\nlast words of a plugin"
    assert tables(said) == FOR_PEOPLE.strip("\n")
    assert tables("TOTAL 30 5 83%") == ""


def test_a_missed_threshold_is_for_everybody() -> None:
    missed = "FAIL Required test coverage of 90% not reached. Total coverage: 83.33%"

    assert condense(f"{FOR_PEOPLE}{missed}\n") == missed
