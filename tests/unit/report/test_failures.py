"""The texts are copies of pytest's output; test_outcomes checks the parsing with real pytest."""

from typing import Any

import pytest

from pytest_mcp.events.model import Phase
from pytest_mcp.report import failures, tracebacks
from tests.support.records import ledger, one_test, phase, skipped, uncollected

NODE_ID = "test_a.py::test_one"

FIXTURE_IS_MISSING = """\
file /project/test_a.py, line 3
  def test_one(nowhere): pass
E       fixture 'nowhere' not found
>       available fixtures: cache, tmp_path

/project/test_a.py:3"""

DOCTEST = """\
001
003 >>> 1 + 1
Expected:
    3
Got:
    2

/project/sums.py:3: DocTestFailure"""

IMPORT_FAILED = """\
ImportError while importing test module '/project/tests/test_x.py'.
Traceback:
tests/test_x.py:2: in <module>
    import helper
helper.py:7: in <module>
    import nothing_here
E   ModuleNotFoundError: No module named 'nothing_here'"""

SYNTAX = """\
E     File "/project/tests/test_x.py", line 4
E       def broken(:
E                  ^
E   SyntaxError: invalid syntax"""


def messages(*phases: Phase) -> str | None:
    return failures.message(ledger(*one_test(NODE_ID, *phases)).tests[NODE_ID])


def traceback(*phases: Phase, captured: bool) -> str | None:
    return failures.traceback(ledger(*one_test(NODE_ID, *phases)).tests[NODE_ID], captured=captured)


def site(*phases: Phase) -> str | None:
    return failures.site(ledger(*one_test(NODE_ID, *phases)).tests[NODE_ID])


def failed_in(*phases: Phase) -> str:
    return failures.phase(ledger(*one_test(NODE_ID, *phases)).tests[NODE_ID])


@pytest.mark.parametrize(
    ("told", "message"),
    [
        pytest.param({"message": "ValueError: no"}, "ValueError: no", id="exception"),
        pytest.param({"message": "assert 1 == 2"}, "AssertionError: assert 1 == 2", id="bare assert"),
        pytest.param({"message": "AssertionError: why\nassert 0"}, "AssertionError: why\nassert 0", id="with reason"),
        pytest.param(
            {"traceback": FIXTURE_IS_MISSING}, "FixtureLookupError: fixture 'nowhere' not found", id="fixture"
        ),
        pytest.param({"traceback": DOCTEST}, "DocTestFailure: Expected:\n    3\nGot:\n    2", id="doctest"),
        pytest.param({"traceback": "worker 'gw0' crashed"}, "worker 'gw0' crashed", id="only text"),
        pytest.param({"traceback": None}, "", id="nothing at all"),
        pytest.param({"message": "X: y", "subtest": "[part] (n=1)"}, "X: y\nin subtest [part] (n=1)", id="subtest"),
    ],
)
def test_the_message_of_a_failure_begins_with_the_exception(told: dict[str, Any], message: str) -> None:
    assert messages(phase(**told)) == message


def test_a_test_that_failed_twice_has_both_messages_the_assertion_first() -> None:
    told = messages(phase(message="assert 0"), phase(when="teardown", message="RuntimeError: late"))

    assert told == "AssertionError: assert 0\nRuntimeError: late"


def test_pytests_own_summary_of_failed_subtests_is_left_out_because_it_says_nothing_new() -> None:
    part = phase(message="X: y", traceback="whole", subtest="[part]")
    summary = phase(message=None, traceback="contains 1 failed subtest")

    assert messages(part, summary) == "X: y\nin subtest [part]"
    assert traceback(part, summary, captured=False) == f"{' subtest [part] '.center(80, '_')}\nwhole"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        pytest.param(skipped(NODE_ID, "not today"), "not today", id="skip"),
        pytest.param(phase(outcome="skipped", xfail="known bug"), "xfailed: known bug", id="xfail"),
        pytest.param(phase(outcome="skipped", xfail="reason: gave up"), "xfailed: gave up", id="xfail on the way"),
        pytest.param(phase(outcome="skipped", xfail=""), "xfailed: ", id="xfail without a reason"),
    ],
)
def test_the_message_of_a_skipped_test_is_its_reason_and_it_has_no_traceback(told: Phase, message: str) -> None:
    assert messages(told) == message
    assert traceback(told, captured=True) is None


def test_a_test_that_passed_has_neither_message_nor_traceback() -> None:
    assert messages() is None
    assert traceback(captured=True) is None
    assert messages(phase(outcome="passed", xfail="known")) is None


def test_captured_output_follows_the_traceback_once_although_it_accumulates_from_phase_to_phase() -> None:
    call = phase(traceback="the call\n", sections=[["Captured stdout call", "early\n"]])
    late = phase(
        when="teardown",
        outcome="passed",
        sections=[["Captured stdout call", "early\n"], ["Captured stdout teardown", "late\n"], ["Captured log", ""]],
    )

    told = traceback(call, late, captured=True)

    assert told == (
        "the call\n"
        "----------------------------- Captured stdout call -----------------------------\n"
        "early\n"
        "--------------------------- Captured stdout teardown ---------------------------\n"
        "late"
    )
    assert traceback(call, late, captured=False) == "the call"


def test_the_second_failure_of_a_test_has_a_heading_of_its_own() -> None:
    told = traceback(phase(traceback="the call"), phase(when="teardown", traceback="the teardown"), captured=False)

    assert told == f"the call\n{' ERROR at teardown '.center(80, '_')}\nthe teardown"


LIBRARY = ["/usr/lib/python3.11/json/decoder.py", 355]
THROUGH_A_LIBRARY = """\
test_a.py:3: in test_one
    load()
src/shop/cart.py:12: in load
    return json.loads(text)
/usr/lib/python3.11/json/decoder.py:355: in decode
    raise error
E   json.decoder.JSONDecodeError: Expecting value"""


@pytest.mark.parametrize(
    ("told", "place"),
    [
        pytest.param({"location": ["a/test_b.py", 7]}, "a/test_b.py:7", id="told"),
        pytest.param({"location": ["a.py", 7], "traceback": THROUGH_A_LIBRARY}, "a.py:7", id="told, inside"),
        pytest.param({"location": LIBRARY, "traceback": THROUGH_A_LIBRARY}, "src/shop/cart.py:12", id="told, outside"),
        pytest.param({"location": LIBRARY}, "/usr/lib/python3.11/json/decoder.py:355", id="nowhere else"),
        pytest.param({"traceback": THROUGH_A_LIBRARY}, "src/shop/cart.py:12", id="only text"),
        pytest.param({"traceback": "x\na.py:3: in f\n\nlib b.py:9: ValueError"}, "lib b.py:9", id="last line"),
        pytest.param({"traceback": DOCTEST}, "/project/sums.py:3", id="doctest"),
        pytest.param({"traceback": "nothing"}, None, id="no frame"),
        pytest.param({"traceback": ""}, None, id="empty"),
        pytest.param({}, None, id="silence"),
    ],
)
def test_the_place_of_a_failure_is_the_last_one_inside_the_project(told: dict[str, Any], place: str | None) -> None:
    assert site(phase(**told)) == place


def test_an_argument_that_looks_like_a_place_is_none() -> None:
    """Above its source, a frame in full has the arguments of the function."""
    traceback = "src/cart.py:12: \n_ _ _\n\ntext = 'a:3: b'\n\n>   fail()\nE   no\n\n/usr/lib/json.py:3: ValueError"

    assert site(phase(location=["/usr/lib/json.py", 3], traceback=traceback)) == "src/cart.py:12"


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_failure_has_the_phase_in_which_it_failed(when: str) -> None:
    assert failed_in(phase(when=when)) == when


def test_a_test_that_failed_twice_failed_in_its_call() -> None:
    assert failed_in(phase(), phase(when="teardown")) == "call"


def test_a_long_name_of_a_subtest_is_a_heading_too() -> None:
    """Without a heading its text would look like output of the previous subtest."""
    name = f"[{'x' * 100}]"
    first = phase(traceback="first", subtest="[a]", sections=[["Captured stdout call", "printed\n"]])
    second = phase(traceback="second", subtest=name)

    told = traceback(first, second, captured=True)

    assert told is not None
    assert f"_ subtest {name} _" in told
    assert tracebacks.without_captured(told).endswith("second")


def test_a_collection_error_that_is_known_whole_is_told_as_it_is() -> None:
    event = uncollected("a.py", error_type="ValueError", message="no", line=3, traceback="text")

    assert failures.collection_error(event).model_dump() == {
        "file": "a.py",
        "error_type": "ValueError",
        "message": "no",
        "line": 3,
        "traceback": "text",
    }


@pytest.mark.parametrize(
    ("text", "error_type", "message", "line"),
    [
        pytest.param(IMPORT_FAILED, "ModuleNotFoundError", "No module named 'nothing_here'", 2, id="import"),
        pytest.param(SYNTAX, "SyntaxError", "invalid syntax", 4, id="syntax"),
        pytest.param("E   KeyboardInterrupt", "KeyboardInterrupt", "", None, id="no message"),
        pytest.param(" could not collect \n", "CollectionError", "could not collect", None, id="only text"),
    ],
)
def test_a_collection_error_that_came_as_text_alone_is_read_from_it(
    text: str, error_type: str, message: str, line: int | None
) -> None:
    error = failures.collection_error(uncollected("tests/test_x.py", traceback=text))

    assert (error.error_type, error.message, error.line) == (error_type, message, line)
    assert error.traceback == text


def test_a_name_of_a_file_is_no_pattern() -> None:
    event = uncollected("tests/test_(x.py", traceback="tests/test_(x.py:5: in <module>")

    assert failures.collection_error(event).line == 5
