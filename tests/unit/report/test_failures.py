"""The texts are copies of pytest's output; test_outcomes checks the parsing with real pytest."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import failures, rendering
from pytest_mcp.report.failures import Failure
from pytest_mcp.run.events import Phase
from tests.support.invented.records import frame, ledger, one_test, phase, raised, skipped

NODE_ID = "test_a.py::test_one"

FIXTURE_IS_MISSING = """\
file /project/test_a.py, line 3
  def test_one(nowhere): pass
E       fixture 'nowhere' not found
>       available fixtures: cache, tmp_path

/project/test_a.py:3"""

RECURSIVE = "recursive dependency involving fixture 'a' detected"

DOCTEST = """\
001
003 >>> 1 + 1
Expected:
    3
Got:
    2

/project/sums.py:3: DocTestFailure"""

# pytest-forked hands on nothing but the text of a failure.
FORKED = """\
def test_total():
        try:
>           read()
E           KeyError: 'price'

test_a.py:2: KeyError

During handling of the above exception, another exception occurred:

    def test_total():
>       assert total([7]) == 8
E       assert 7 == 8
E        +  where 7 = total([7])

test_a.py:5: AssertionError"""


def failure(*phases: Phase) -> Failure:
    return failures.failure_of(ledger(*one_test(NODE_ID, *phases)).tests[NODE_ID])


def in_full(*phases: Phase, captured: bool = False) -> str:
    return rendering.example_in_full(failure(*phases), with_captured=captured).traceback or ""


@pytest.mark.parametrize(
    ("told", "message"),
    [
        pytest.param({"message": "ValueError: no"}, "ValueError: no", id="exception"),
        pytest.param({"message": "assert 1 == 2"}, "AssertionError: assert 1 == 2", id="bare assert"),
        pytest.param({"message": "AssertionError: why\nassert 0"}, "AssertionError: why\nassert 0", id="with reason"),
        pytest.param(
            {"message": 'File "<string>", line 1\n  f(:\n    ^\nSyntaxError: no\na note'},
            'SyntaxError: no\nFile "<string>", line 1\n  f(:\n    ^\na note',
            id="syntax error",
        ),
        pytest.param(
            {"traceback": FIXTURE_IS_MISSING}, "FixtureLookupError: fixture 'nowhere' not found", id="fixture"
        ),
        pytest.param(
            {"traceback": FIXTURE_IS_MISSING.replace("fixture 'nowhere' not found", RECURSIVE)},
            f"FixtureLookupError: {RECURSIVE}",
            id="recursive fixture",
        ),
        pytest.param({"traceback": DOCTEST}, "DocTestFailure: Expected:\n    3\nGot:\n    2", id="doctest"),
        pytest.param({"chain": [[None, None, ["too", "late"], []]]}, "Failed: too\nlate", id="text without a crash"),
        pytest.param({"traceback": "worker 'gw0' crashed"}, "worker 'gw0' crashed", id="only text"),
        pytest.param(
            {"traceback": "[gw1] linux -- Python 3.11.7 /env/bin/python\nworker 'gw1' crashed"},
            "worker 'gw1' crashed",
            id="only text, by a worker",
        ),
        pytest.param({"traceback": FORKED}, "AssertionError: assert 7 == 8\n +  where 7 = total([7])", id="forked"),
        pytest.param({"traceback": "def test():\nE   KeyError: 1"}, "KeyError: 1", id="forked, in short"),
        pytest.param({"traceback": "E is for error\nin line 3"}, "E is for error\nin line 3", id="a text with an E"),
        pytest.param({"traceback": None}, "no message", id="nothing at all"),
        pytest.param({"message": "X: y", "subtest": "[part] (n=1)"}, "X: y\nin subtest [part] (n=1)", id="subtest"),
    ],
)
def test_the_message_of_a_failure_begins_with_the_exception(told: dict[str, Any], message: str) -> None:
    assert failure(phase(**told)).message == message


@pytest.mark.parametrize("message", ["", "\n", "   \n\n"])
def test_a_cause_is_never_empty(message: str) -> None:
    assert failure(phase(message=message)).cause != ""


@given(st.text())
def test_the_cause_of_any_message_is_one_line(message: str) -> None:
    for told in (phase(message=message), phase(traceback=message), phase(chain=[[None, None, [message], []]])):
        cause = failure(told).cause

        assert cause != ""
        assert "\n" not in cause


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"message": "ValueError: no\n- a\n- b"}, "ValueError: no"),
        ({"message": "ValueError: <Cart object at 0x7fefbece8a50>"}, "ValueError: <Cart object at 0x…>"),
        ({"message": "assert ['0xdeadbeef'] == 1"}, "AssertionError: assert ['0xdeadbeef'] == 1"),
        ({"message": "X: Expected:\n  3\nGot:\n  2"}, "X: Expected: 3 Got: 2"),
        (
            {"message": "AssertionError: \nArrays are not equal\n\nMismatched: 1"},
            "AssertionError: Arrays are not equal",
        ),
        ({"message": "AssertionError: \n"}, "AssertionError:"),
        ({"message": "Error: files differ:\n" + "a/b\n" * 99}, "Error: files differ:" + " a/b" * 45),
        (
            {"message": "E: FILES DIFFER:\n/x.yml\nHTML DIFF: /x.html\n---\n+++\n@@ -1 +1 @@\n-age: 30\n+age: 31"},
            "E: FILES DIFFER: -age: 30 +age: 31",
        ),
        ({"message": "E: these are gone:\n/tmp/a/x.yml"}, "E: these are gone: /tmp/a/x.yml"),
        (
            {"message": "Failed: 2 were done (add -v option to show queries)"},
            "Failed: 2 were done (verbosity: 1 shows the queries)",
        ),
        ({"message": "ValueError: \x1b[31mred\x1b[0m"}, "ValueError: red"),
        (
            {"message": "AssertionError: carts differ:\nassert 3 == 4\n  - 4\n  + 3"},
            "AssertionError: carts differ: assert 3 == 4",
        ),
        ({"traceback": DOCTEST}, "DocTestFailure: Expected: 3 Got: 2"),
    ],
)
def test_a_cause_is_the_first_line_or_all_where_that_only_announces_the_others(
    told: dict[str, Any], cause: str
) -> None:
    assert failure(phase(**told)).cause == cause


GROUP = "ExceptionGroup: nursery (2 sub-exceptions)"


@pytest.mark.parametrize("told", [GROUP, "ValueError('a') [single exception in ExceptionGroup]"])
def test_the_message_of_a_group_names_its_members(told: str) -> None:
    chain = [["group", None, [GROUP], []], ["cause", None, ["KeyError: 1"], []]]
    chain += [["member", None, [f"ValueError: {name}", "below"], []] for name in "abc"]

    found = failure(phase(message=told, chain=[*chain, [None, None, ["OSError: d"], []]]))

    assert found.message == f"{GROUP}: ValueError: a; ValueError: b; ValueError: c; and 1 more"


def test_what_was_raised_while_a_group_was_handled_has_its_own_message() -> None:
    chain = [["group", None, [GROUP], []], ["context", None, ["ValueError: a"], []], [None, None, ["OSError: d"], []]]

    assert failure(phase(message="OSError: d", chain=chain)).message == "OSError: d"


def test_a_test_that_failed_twice_has_both_messages_the_assertion_first() -> None:
    told = failure(phase(message="assert 0\n why"), phase(when="teardown", message="RuntimeError: late"))

    assert told.message == "AssertionError: assert 0\n why\nRuntimeError: late"
    assert told.cause == "AssertionError: assert 0 (and 1 more)"


def test_a_cause_is_one_line_and_says_in_which_subtest() -> None:
    part = phase(message="X: y\nz", subtest="[part] (n=1)")

    assert failure(part).cause == "X: y in subtest [part] (n=1)"
    assert failure(part, phase(message="X: z", subtest="[other]")).cause == "X: y in subtest [part] (n=1) (and 1 more)"


def test_pytests_own_summary_of_failed_subtests_is_left_out_because_it_says_nothing_new() -> None:
    part = phase(message="X: y", traceback="whole", subtest="[part]")
    as_text = phase(message=None, traceback="[gw1] linux -- Python 3.11.7 python\ncontains 1 failed subtest")
    as_data = phase(message=None, chain=[[None, None, ["contains 1 failed subtest"], []]])

    for summary in (as_text, as_data):
        assert failure(part, summary).message == "X: y\nin subtest [part]"
        assert in_full(part, summary) == f"{' subtest [part] '.center(80, '_')}\nwhole"


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        pytest.param(skipped(NODE_ID, "not today"), "not today", id="skip"),
        pytest.param(phase(outcome="skipped", xfail="known bug"), "xfailed: known bug", id="xfail"),
        pytest.param(phase(outcome="skipped", xfail="reason: gave up"), "xfailed: gave up", id="xfail on the way"),
        pytest.param(phase(outcome="skipped", xfail=""), "xfailed", id="xfail without a reason"),
    ],
)
def test_the_reason_of_a_skipped_test_is_told(told: Phase, reason: str) -> None:
    assert failures.skip_reason(ledger(*one_test(NODE_ID, told)).tests[NODE_ID]) == reason


def test_captured_output_follows_the_traceback_once_although_it_accumulates_from_phase_to_phase() -> None:
    call = phase(traceback="the call\n", sections=[["Captured stdout call", "early\n"]])
    late = phase(
        when="teardown",
        outcome="passed",
        sections=[["Captured stdout call", "early\n"], ["Captured stdout teardown", "late\n"], ["Captured log", ""]],
    )

    assert in_full(call, late, captured=True) == (
        "the call\n"
        "----------------------------- Captured stdout call -----------------------------\n"
        "early\n"
        "--------------------------- Captured stdout teardown ---------------------------\n"
        "late"
    )
    assert in_full(call, late, captured=False) == "the call"


@pytest.mark.parametrize(("printed", "shown"), [("uu", False), (",u,\n", False), ("u\nprinted", True)])
def test_the_letters_that_pytest_writes_for_subtests_are_not_output_of_the_test(printed: str, shown: bool) -> None:
    sections = [["Captured stdout call", printed]]
    subtest = phase(message="X: y", subtest="(n=1)")

    assert bool(failure(subtest, phase(outcome="passed", sections=sections)).sections) == shown
    assert failure(phase(message="X: y", sections=sections)).sections


def test_the_second_failure_of_a_test_has_a_heading_of_its_own() -> None:
    told = in_full(phase(traceback="the call"), phase(when="teardown", traceback="the teardown"))

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
        pytest.param({"location": ["a.py::b", 0], "traceback": "a.py:8 in b() -> check"}, "a.py:8", id="made up"),
        pytest.param({"traceback": "nothing"}, None, id="no frame"),
        pytest.param({"traceback": ""}, None, id="empty"),
        pytest.param({}, None, id="silence"),
    ],
)
def test_the_place_of_a_failure_is_the_last_one_inside_the_project(told: dict[str, Any], place: str | None) -> None:
    assert failure(phase(**told)).site == place


@pytest.mark.parametrize(
    ("frames", "site", "raised_at"),
    [
        (["test_a.py:3", "src/cart.py:12"], "src/cart.py:12", "src/cart.py:12"),
        (["test_a.py:3", "src/cart.py:12", "/usr/lib/x.py:9"], "src/cart.py:12", "/usr/lib/x.py:9"),
        ([".venv/lib/python3.12/site-packages/x.py:9"], *[".venv/lib/python3.12/site-packages/x.py:9"] * 2),
    ],
)
def test_the_place_of_a_failure_is_read_from_its_frames(frames: list[str], site: str, raised_at: str) -> None:
    told = failure(raised("ValueError: no", *frames))

    assert (told.site, told.raised_at) == (site, raised_at)


def test_where_the_last_exception_was_raised_outside_the_first_one_tells_the_place() -> None:
    first = ["cause", None, ["KeyError: 1"], [frame("src/cart.py:12")]]
    last = [None, None, ["X: y"], [frame("/usr/lib/x.py:9")]]

    told = failure(phase(message="X: y", chain=[first, last]))

    assert (told.site, told.raised_at) == ("src/cart.py:12", "/usr/lib/x.py:9")


def test_an_argument_that_looks_like_a_place_is_none() -> None:
    """Above its source, a frame in full has the arguments of the function."""
    traceback = "src/cart.py:12: \n_ _ _\n\ntext = 'a:3: b'\n\n>   fail()\nE   no\n\n/usr/lib/json.py:3: ValueError"

    assert failure(phase(location=["/usr/lib/json.py", 3], traceback=traceback)).site == "src/cart.py:12"


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_failure_has_the_phase_in_which_it_failed(when: str) -> None:
    assert failure(phase(when=when)).when == when


def test_a_test_that_failed_twice_failed_in_its_call() -> None:
    assert failure(phase(), phase(when="teardown")).when == "call"


def test_a_long_name_of_a_subtest_is_a_heading_too() -> None:
    """Without a heading its text would look like output of the previous subtest."""
    name = f"[{'x' * 100}]"
    first = phase(traceback="first", subtest="[a]", sections=[["Captured stdout call", "printed\n"]])
    second = phase(traceback="second", subtest=name)

    told = in_full(first, second, captured=True)

    assert f"printed\n_ subtest {name} _\nsecond" in told
