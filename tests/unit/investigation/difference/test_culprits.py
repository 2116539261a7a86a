"""Which calls of two trees gave something else although they got the same; `call_tree` and `culprits` on values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.investigation.difference.call_tree import recording_of
from pytest_mcp.investigation.difference.culprits import Comparison, Culprit
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import CallCode, CallCodes, CallRow, Calls, CallsEnded, CallValues
from tests.support.invented.calls import TEST, Made, recorded


def comparison(
    base: Sequence[Made], now: Sequence[Made], again: Sequence[Made] | None = None, *, is_same_code: bool = False
) -> Comparison:
    values = Values()
    first, second, third = (recorded(values, *roots) for roots in (base, again or base, now))
    return Comparison(values, first, second, third, is_same_code=is_same_code)


def compared(base: Sequence[Made], now: Sequence[Made], again: Sequence[Made] | None = None) -> list[Culprit]:
    return comparison(base, now, again).run()


def names(culprits: Sequence[Culprit]) -> list[str]:
    return [each.now.code.function for each in culprits]


def a_test(*calls: Made, result: Any = None, outcome: str = "returned") -> Made:
    return Made("test_it", {}, result, calls, outcome=outcome, file="tests/test_shop.py")


def test_the_innermost_call_that_got_the_same_and_gave_something_else_is_the_culprit() -> None:
    base = a_test(Made("total", {"items": [1, 2]}, 3, [Made("price", {"item": 1}, 1), Made("price", {"item": 2}, 2)]))
    now = a_test(Made("total", {"items": [1, 2]}, 4, [Made("price", {"item": 1}, 1), Made("price", {"item": 2}, 3)]))

    (found,) = compared([base], [now])

    assert (found.now.code.function, found.now.given) == ("price", found.base.given)
    assert [part.what for part in found.parts] == ["result"]


def test_a_call_that_was_given_something_else_is_not() -> None:
    base = a_test(Made("total", {"n": 1}, 2, [Made("rate", {"of": 1}, 1)]))
    now = a_test(Made("total", {"n": 1}, 4, [Made("rate", {"of": 2}, 2)]))

    assert names(compared([base], [now])) == ["total"]


def test_the_innermost_changed_call_that_was_given_something_else_too_is_told_with_that() -> None:
    def run(given: int, result: int) -> Made:
        inner = Made("inner", {"self": ("S", {"hooks": given})}, result, code=result)
        return a_test(Made("outer", {"self": ("S", {"hooks": given})}, result, [inner], code=result))

    seen = comparison([run(1, 3)], [run(2, 4)])

    assert seen.run() == []
    (found,) = seen.given_else()
    assert found.now.code.function == "inner"
    assert [(part.what, part.when) for part in found.parts] == [("self", "before"), ("result", "")]


def test_of_the_same_code_the_state_that_differs_is_told_or_else_the_first_thing_that_was_given() -> None:
    def run(state: int, result: int) -> Made:
        return a_test(Made("price", {"n": 1}, result, state={"RATE": state}))

    (found,) = comparison([run(1, 1)], [run(2, 2)], is_same_code=True).run()
    (misled,) = comparison([a_test(Made("f", {"n": 1}))], [a_test(Made("f", {"n": 2}))], is_same_code=True).run()

    assert [(part.what, part.when) for part in found.parts] == [("RATE", "before"), ("result", "")]
    assert [(part.what, part.when) for part in misled.parts] == [("n", "before")]


def test_what_a_call_left_in_its_arguments_is_what_it_gave() -> None:
    base = a_test(Made("add", {"to": [1], "item": 2}, left={"to": [1, 2]}))
    now = a_test(Made("add", {"to": [1], "item": 2}))

    (found,) = compared([base], [now])

    assert [(part.what, part.when) for part in found.parts] == [("to", "afterwards")]


def test_who_reads_what_another_call_has_left_is_innocent() -> None:
    writer = Made("write", {"n": 1}, state={"CACHE": {}}, left={"CACHE": {"n": 1}})
    reader = Made("read", {}, 1, state={"CACHE": {"n": 1}})
    wrong = replace(writer, left={"CACHE": {"n": 2}})
    misled = replace(reader, result=2, state={"CACHE": {"n": 2}})

    assert names(compared([a_test(writer, reader)], [a_test(wrong, misled)])) == ["write"]


def test_an_extracted_helper_and_a_renamed_one_hide_nothing() -> None:
    base = a_test(Made("total", {"n": 1}, 1, [Made("old", {"n": 1}, 1, [Made("price", {"n": 1}, 1)])]))
    now = a_test(Made("total", {"n": 1}, 2, [Made("new", {"n": 1}, 2, [Made("price", {"n": 1}, 2)])]))

    assert names(compared([base], [now])) == ["price"]


def test_more_and_fewer_calls_before_it_do_not_matter() -> None:
    before = [Made("log", {"n": number}) for number in range(5)]
    base = a_test(*before, Made("price", {"n": 1}, 1), *before)
    now = a_test(*before[2:], Made("price", {"n": 1}, 2), *before, *before)

    assert names(compared([base], [now])) == ["price"]


@pytest.mark.parametrize(("now", "expected"), [("id 7f3a of one", []), ("id 9c0d of two", ["label"])])
def test_only_the_part_of_a_text_that_the_base_varies_itself_says_nothing(now: str, expected: list[str]) -> None:
    base, again, changed = (a_test(Made("label", {"n": 1}, text)) for text in ("id 11aa of one", "id 22bb of one", now))

    assert names(compared([base], [changed], [again])) == expected


def test_what_the_base_varies_is_no_difference() -> None:
    base, again, now = (a_test(Made("now", {}, ("Time", {"at": at, "zone": "UTC"}))) for at in (1, 2, 3))
    elsewhere = a_test(Made("now", {}, ("Time", {"at": 3, "zone": "CET"})))

    assert compared([base], [now], [again]) == []
    assert names(compared([base], [elsewhere], [again])) == ["now"]


@pytest.mark.parametrize("result", [None, {}, {"at": 3}, "3", {"at": 3, "zone": "UTC", "more": 1}])
def test_what_varies_hides_no_value_of_another_shape(result: Any) -> None:
    base, again, now = (
        a_test(Made("now", {}, each)) for each in ({"at": 1, "zone": "UTC"}, {"at": 2, "zone": "UTC"}, result)
    )

    assert names(compared([base], [now], [again])) == ["now"]


def test_a_varying_value_that_is_none_now_is_a_difference() -> None:
    base, again, now, other = (a_test(Made("token", {}, each)) for each in (1, 2, None, 3))

    assert names(compared([base], [now], [again])) == ["token"]
    assert compared([base], [other], [again]) == []


def test_a_generator_is_to_blame_for_its_yields_but_not_for_how_many_were_wanted() -> None:
    def consumed(outcome: str, *yields: int) -> Made:
        return a_test(Made("numbers", {}, outcome=outcome, yields=yields))

    assert compared([consumed("returned", 1, 2)], [consumed("closed", 1)]) == []
    assert names(compared([consumed("returned", 1, 2)], [consumed("returned", 1)])) == ["numbers"]
    assert names(compared([consumed("closed", 1, 2)], [consumed("closed", 1, 3)])) == ["numbers"]


def test_changed_code_comes_before_unchanged_code_and_calls_before_imports() -> None:
    def run(result: int, code: int) -> list[Made]:
        body = Made("<module>", {}, {"RATE": result}, file="shop.py", phase="import", code=code)
        calls = [Made("reader", {}, result), Made("changed", {}, result, code=code)]
        return [body, a_test(*calls, outcome="raised", result=ValueError(result))]

    assert names(compared(run(1, 1), run(2, 2))) == ["changed", "<module>", "reader"]


def test_a_difference_that_did_not_reach_the_test_comes_later() -> None:
    def run(result: int) -> Made:
        inner = Made("inner", {}, result, code=result)
        return a_test(Made("outer", {}, 0, [inner]), Made("other", {}, result, code=result), result=result)

    assert names(compared([run(1)], [run(2)])) == ["other", "inner"]


def test_a_field_that_only_one_side_has_does_not_block_what_is_behind_it() -> None:
    def run(fields: dict[str, int], result: int) -> Made:
        reset = Made("reset", {"self": ("Splitter", {})}, left={"self": ("Splitter", fields)}, code=result)
        return a_test(reset, Made("process", {"self": ("Splitter", fields)}, result, code=result), result=result)

    assert names(compared([run({"old": 1}, 1)], [run({"new": 1}, 2)])) == ["process", "reset"]


def test_what_the_consumer_of_a_generator_does_to_its_arguments_is_not_its_doing() -> None:
    def run(*left: int) -> Made:
        return a_test(Made("process", {"tokens": [1]}, yields=[1], left={"tokens": [*left]}))

    assert compared([run(1, 2)], [run(1)]) == []


def test_a_call_that_does_not_come_back_is_the_culprit() -> None:
    base = a_test(Made("wait", {}, 1))
    now = a_test(Made("wait", {}, outcome="running"), outcome="running")

    assert names(compared([base], [now])) == ["wait"]


def test_where_only_the_test_differs_it_says_what_it_calls_on_one_side_only() -> None:
    base = a_test(Made("checked", {}), result=None)
    now = a_test(result=ValueError("no"), outcome="raised")

    (found,) = compared([base], [now])

    assert found.now.is_test
    assert found.only_base == (("shop.py", "checked"),)


DAMAGED: list[tuple[str, Any, Any]] = [
    ("a row that is not there", [["list", "list", 1, 0, 5]], None),
    ("an unknown kind", [["other", "x"]], None),
    ("a row of another shape", [["text"]], None),
    ("no call above", None, {"parent": 3}),
    ("no such code", None, {"code": 7}),
    ("no such value", None, {"result": 99}),
    ("a negative number", None, {"given": [-1]}),
    ("an unknown phase", None, {"phase": "later"}),
]


@pytest.mark.parametrize(("rows", "call"), [each[1:] for each in DAMAGED], ids=[each[0] for each in DAMAGED])
def test_records_that_a_test_has_forged_are_refused(rows: list[list[Any]] | None, call: dict[str, Any] | None) -> None:
    row = CallRow(0, -1, "call", 1, "returned", 0, 1, [0], [], [])._replace(**(call or {}))
    ledger = Ledger(
        call_values=[CallValues(TEST, rows or [["atom", "1"]])],
        call_codes=[CallCodes(TEST, [CallCode("a.py", "f", 1, 1, ["n"], 1, 1)])],
        calls=[Calls(TEST, [row])],
        calls_ended=[CallsEnded(TEST, complete=True, lines=[])],
    )

    assert recording_of(ledger, TEST, Values()) is None


def test_of_long_values_that_begin_alike_it_shows_where_they_part() -> None:
    values = Values()
    long = "x" * 300
    base = recorded(values, a_test(Made("f", {}, [long, [1, "here"]])))
    now = recorded(values, a_test(Made("f", {}, [long, "here"])))
    results = [tree.calls[1].result for tree in (base, now)]

    shown = values.shown_pair(results[0], results[1], 60)

    assert shown[0] != shown[1]
    assert all(len(each) <= 62 for each in shown)
    assert all("here" in each for each in shown)
