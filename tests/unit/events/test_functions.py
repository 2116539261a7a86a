"""What tests executed, from the records of their processes."""

from pytest_mcp.events.functions import ExecutedFunctions, Function, OutsideFunctions, executions

NAMES = [["a.py", "f"], ["a.py", "state"], ["a.py", "g"]]


def executed(name: str, ran: str, first: int = 3) -> ExecutedFunctions:
    new = NAMES if first == 0 else []
    return ExecutedFunctions(process=1, first=first, new=new, ran=ran, id=name, opaque=False)


def outside(first: int = 3) -> OutsideFunctions:
    return OutsideFunctions(
        process=1, first=first, new=[], ran="0", states=[[1, "2"]], shared=[], unseen=[], whole=True
    )


def test_a_test_that_may_use_kept_state_executed_all_that_made_it() -> None:
    found = executions([executed("one", "1-2", first=0), executed("two", "1"), executed("three", "0"), outside()])

    assert found.tests["two"].functions == {Function("a.py", "state"), Function("a.py", "g")}
    assert found.tests["three"].functions == found.outside == {Function("a.py", "f")}


def test_of_a_process_with_a_lost_record_or_without_an_end_nothing_is_known() -> None:
    assert executions([executed("two", "1"), outside()]).tests == {}
    assert executions([executed("one", "1", first=0)]).tests == {}


def test_a_test_that_uses_state_which_it_has_not_changed_executed_all_that_tests_which_changed_it_did() -> None:
    """0 changes the state, 1 can use it, 2 runs in the same test as 0 does."""
    last = OutsideFunctions(process=1, first=3, new=[], ran="", states=[], shared=[["0", "0-1"]], unseen=[], whole=True)
    tests = [executed("changes", "0,2", first=0), executed("uses", "1"), executed("other", "2")]

    found = executions([*tests, last]).tests

    assert {name: len(test.functions) for name, test in found.items()} == {"changes": 2, "uses": 3, "other": 1}
