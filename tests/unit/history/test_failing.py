from pytest_mcp.history import failing
from pytest_mcp.history.store import TestRow
from tests.support.history.histories import HOUR, Past


def groups(past: Past) -> list[tuple[list[str], str | None, int, int, bool]]:
    """Names, the run since which they fail, failures in a row, failures before, whether they passed before."""
    found = failing.failing_tests(past.runs()).failing or []
    return [
        (each.node_ids, each.since and each.since[11:13], each.runs, each.failed_before, each.passed_at is not None)
        for each in found
    ]


def test_what_failed_last_fails_now_since_the_first_failure_after_the_last_pass(past: Past) -> None:
    for old, new, mended, never, again in map(tuple, ["PPFFF", "PPPFF", "FPPFP", "FFPFP", "FFSFF"]):
        past.run(
            {"t.py::old": old, "t.py::new": new, "t.py::mended": mended, "t.py::never": never, "t.py::again": again}
        )

    assert groups(past) == [
        (["t.py::again"], "03", 1, 2, True),
        (["t.py::new"], "02", 2, 0, True),
        (["t.py::old"], "01", 3, 0, True),
        (["t.py::never"], "23", 5, 0, False),
    ]


def test_tests_that_fail_since_the_same_run_with_one_cause_are_one_group(past: Past) -> None:
    names = [f"t.py::test_{number}" for number in range(30)]
    for letter in "PFF":
        past.run(dict.fromkeys(names, letter))
    past.run([*(TestRow(name, "F", 0.1, cause="ab" * 8) for name in names[1:]), TestRow(names[0], "F", 0.1, "c" * 16)])

    found = failing.failing_tests(past.runs()).failing or []
    assert [(each.count, each.node_ids) for each in found] == [(29, sorted(names)[1:4]), (1, names[:1])]


def test_a_test_that_was_renamed_no_longer_fails(past: Past) -> None:
    others = {f"t.py::test_{number}": "P" for number in range(5)}
    past.run(others | {"t.py::old_name": "F"})
    past.run(others | {"t.py::new_name": "F"})

    answer = failing.failing_tests(past.runs())

    assert [each.node_ids for each in answer.failing or []] == [["t.py::new_name"]]
    assert answer.notices == ["1 failed test(s) are left out: a later run of the whole suite no longer has them."]


def test_a_test_that_only_was_not_selected_or_not_reached_still_fails(past: Past) -> None:
    others = {f"t.py::test_{number}": "P" for number in range(20)}
    past.run(others | {"t.py::broken": "F"})
    past.run({"t.py::test_0": "P"}, selection='{"path":"t.py"}')
    # Stopped at its first failure, and a file that could not be collected.
    past.run({"t.py::test_0": "P", "t.py::test_1": "F"}, verdict="failed")
    past.run(others, verdict="failed", errors=1)

    assert "t.py::broken" in {name for names, *_ in groups(past) for name in names}


def test_a_failure_right_after_a_pass_on_the_same_code_is_not_blamed_on_the_code(past: Past) -> None:
    past.run({"t.py::flaky": "P", "t.py::broken": "P"}, state="before")
    past.run({"t.py::flaky": "P"}, state="now", selection='{"path":"t.py"}')
    past.run({"t.py::flaky": "F", "t.py::broken": "F"}, state="now")

    hints = {each.node_ids[0]: each.hint for each in failing.failing_tests(past.runs()).failing or []}

    assert hints == {"t.py::flaky": failing.PERHAPS_FLAKY, "t.py::broken": None}


def test_the_pass_may_be_older_than_the_days_that_are_looked_at(past: Past) -> None:
    past.letters("t.py::test_x", "P", commit_id="a" * 40)
    past.letters("t.py::test_x", "FF", commit_id="b" * 40)

    (group,) = failing.failing_tests(past.runs(past.now - HOUR)).failing or []

    assert (group.commit, group.passed_at, group.runs) == ("bbbbbbb", "aaaaaaa", 2)
