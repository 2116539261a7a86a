"""What tests executed, from the records of their processes."""

from pytest_mcp.events.functions import ExecutedFunctions, Function, OutsideFunctions, executions

NAMES = [["a.py", "f"], ["a.py", "state"], ["a.py", "g"]]


def executed(name: str, ran: str, first: int = 3) -> ExecutedFunctions:
    new = NAMES if first == 0 else []
    return ExecutedFunctions(process=1, first=first, new=new, ran=ran, id=name, opaque=False)


def outside(*states: list[str], given: str = "") -> OutsideFunctions:
    return OutsideFunctions(
        process=1,
        first=3,
        new=[],
        ran="0",
        imports=[["b.py", "2"]],
        states=list(states),
        given=given,
        unseen=[],
        whole=True,
    )


def counts(*states: list[str], given: str = "") -> list[int]:
    """How many functions each of three tests executed; they ran 0 and 2, 1, and 2."""
    tests = [executed("changes", "0,2", first=0), executed("uses", "1"), executed("other", "2")]
    return [len(test.functions) for test in executions([*tests, outside(*states, given=given)]).tests.values()]


def test_what_ran_outside_of_tests_is_known() -> None:
    found = executions([executed("one", "1-2", first=0), outside()])

    assert found.outside == {Function("a.py", "f")}
    assert found.imports == {"b.py": {Function("a.py", "g")}}


def test_of_a_process_with_a_lost_record_or_without_an_end_nothing_is_known() -> None:
    assert executions([executed("two", "1"), outside()]).tests == {}
    assert executions([executed("one", "1", first=0)]).tests == {}


def test_a_test_that_uses_state_executed_all_that_tests_which_changed_it_did() -> None:
    assert counts() == [2, 1, 1]
    assert counts(["0", "", "1", ""]) == [2, 3, 1]


def test_of_a_counter_only_the_functions_that_count_matter() -> None:
    assert counts(["", "0", "1", ""]) == [2, 2, 1]


def test_state_of_a_class_is_used_only_by_tests_with_a_way_to_the_class() -> None:
    assert counts(["0", "", "1", "2"]) == [2, 1, 1]
    assert counts(["0", "", "1", "1"]) == [2, 3, 1]
    # Parameters of a test can be any object.
    assert counts(["0", "", "1", "2"], given="1") == [2, 3, 1]


def test_state_that_was_made_of_other_state_leads_back_to_what_made_that() -> None:
    assert counts(["1", "", "2", ""], ["0", "", "1", ""]) == [3, 3, 3]
