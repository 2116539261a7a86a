import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp.run.decode import KINDS, Record, parse
from pytest_mcp.run.events import MAX_ENTRIES, Event, Frame, Item, Phase, Raised, Timed
from pytest_mcp.run.recordings import MAX_LINES, CallCode, CallRow, Executed, Line
from tests.support.invented.records import finished
from tests.support.invented.streams import any_event, fields_of, json_values, line_of

FRAME = ["src/cart.py", 12, "total", "return sum(cart)", [["cart", "[1]"]], ["n = 1"]]


def usual(kind: str) -> dict[str, Any]:
    """One record of this kind, with the plainest values."""
    plain: dict[Any, Any] = {str: "x", int: 1, float: 0.5, bool: False}
    plain |= {list[str]: ["x"], list[int]: [1], list[Item]: [["x", ["x"], "x", 1]]}
    plain |= {list[list[Any]]: [["atom", "1"]], list[CallCode]: [["x", "x", 1, 1, ["x"], 1, 1]]}
    plain |= {list[list[int]]: [[1]], list[CallRow]: [[1, 1, "x", 1, "x", 1, 1, [1], [1], [1]]]}
    plain |= {list[tuple[str, str]]: [["t", "x"]], dict[str, Any]: {}, dict[str, list[tuple[str, str]]]: {}}
    plain |= {hint: [] for hint in fields_of(Timed).values() if hint not in plain}
    plain |= {dict[str, str]: {}}
    told = {name: plain.get(hint) for name, hint in fields_of(KINDS[kind]).items()}
    told |= {"ranges": "3-5,9"} if kind == "covered_file" else {}
    return told | ({"settings": ["../tox.ini"], "conftests": []} if kind == "above_root" else {})


def read(kind: str, **told: Any) -> Event | None:
    record = parse(json.dumps({"k": kind, "n": 7, **usual(kind), **told}).encode("ascii"))
    return None if record is None else record.event


@given(any_event)
def test_every_event_comes_back_from_its_line(event: Event) -> None:
    assert parse(line_of(event)) == Record(1, event)


@given(any_event, json_values)
def test_keys_that_are_not_ours_pass_silently(event: Event, value: Any) -> None:
    assert parse(line_of(event, of_a_newer_version=value)) == Record(1, event)


@given(any_event, st.data())
def test_a_line_that_was_cut_anywhere_is_no_event(event: Event, data: st.DataObject) -> None:
    line = line_of(event)
    length = data.draw(st.integers(min_value=0, max_value=len(line) - 1))

    assert parse(line[:length]) is None


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode("ascii")))
@example(b'{"k":"collector","collector":' + b"[" * 100_000)
@example(b'{"k":"of_a_newer_version","n":1,"id":"x"}')
@example(b'{"k":"started","id":"x"}')
@example(b'{"k":"started","n":true,"id":"x"}')
@example(b'{"k":"started","n":1.5,"id":"x"}')
def test_a_line_that_is_something_else_is_no_event(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_plainest_record_of_every_kind_is_an_event(kind: str) -> None:
    event = read(kind)

    assert type(event) is KINDS[kind]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, event in KINDS.items() for name in fields_of(event)])
def test_a_record_with_a_field_missing_or_of_another_type_is_no_event(kind: str, name: str) -> None:
    record = {"k": kind, "n": 7, **usual(kind)}
    of_another_type = "text" if "dict" in str(fields_of(KINDS[kind])[name]) else {"not": "this"}

    without = parse(json.dumps({key: value for key, value in record.items() if key != name}).encode("ascii"))
    wrong = parse(json.dumps(record | {name: of_another_type}).encode("ascii"))

    assert without is None
    assert wrong is None


RANGES = ["3-", "-3", "3,", ",3", "x", "3 ", "3\n", "999999999"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        *(("executed", {"code": {"a.py": functions}}) for functions in (3, ["f3"], [["f"]], [["f", 3]], [[3, "3"]])),
        *(("executed", {"code": {"a.py": [["f", ranges]]}}) for ranges in ("", "5-3", f"1-{MAX_LINES + 1}", *RANGES)),
        ("executed", {"code": {"a.py": [["f", "1-9999999"]] * 1000}}),
        *(("executed", {"calls": [call]}) for call in (["a.py"], ["a.py", 3])),
        *(("covered_file", {"ranges": ranges}) for ranges in ("9-3", "1-99999999", *RANGES)),
        *(("covered_file", {"untaken": pairs}) for pairs in ([[1]], [[1, 2, 3]], [1], [["1", "2"]])),
        # Python would take false for the zero of success.
        ("session_ended", {"exit_status": False}),
        ("refused", {"files": [None]}),
        ("above_root", {"settings": ["words of a test"]}),
        ("above_root", {"conftests": ["/conftest.py"]}),
        ("usage_error", {"messages": [{}]}),
        ("deselected", {"ids": [["x"]]}),
        ("items", {"rows": [["test_a.py::test_a", [], "test_a"]]}),
        ("items", {"rows": [["test_a.py::test_a", [1], "test_a", 1]]}),
        ("items", {"rows": [["test_a.py::test_a", 1, "test_a", 1]]}),
        ("items", {"rows": [[None, [], "test_a", 1]]}),
        ("items", {"rows": [["test_a.py::test_a", [], "test_a", True]]}),
        ("phase", {"sections": [1]}),
        ("phase", {"sections": [["a title alone"]]}),
        ("phase", {"sections": [["title", 1]]}),
        ("phase", {"location": []}),
        ("phase", {"location": ["a path alone"]}),
        ("phase", {"chain": [["no", "exception"]]}),
        ("phase", {"chain": [[None, None, "text", []]]}),
        ("phase", {"chain": [[None, None, ["text"], [["a.py", 1]]]]}),
        ("phase", {"chain": [[None, None, ["text"], [["a.py", True, None, None, [], []]]]]}),
        ("phase", {"chain": [[None, None, ["text"], [["a.py", 1, None, None, [["name"]], []]]]]}),
        ("phase", {"chain": [[None, None, [], []]] * (MAX_ENTRIES + 1)}),
        ("phase", {"chain": [[None, None, [], [FRAME] * (MAX_ENTRIES + 1)]]}),
    ],
)
def test_a_list_of_the_wrong_things_is_no_event(kind: str, told: dict[str, Any]) -> None:
    """What is let through here is unpacked, joined and hashed later on."""
    assert read(kind, **told) is None


def test_ranges_are_the_lines_of_their_functions() -> None:
    code = {"a.py": [["f", "3-5,9"], ["C.g", "12"]], "b.py": []}

    event = read("executed", code=code, calls=[["a.py", "f"]])

    assert isinstance(event, Executed)
    assert list(event.lines()) == [*(Line("a.py", "f", n) for n in (3, 4, 5, 9)), Line("a.py", "C.g", 12)]


def test_a_chain_of_exceptions_is_read_with_everything_it_tells() -> None:
    told = [["cause", "the last 60 of 90 frames", ["ValueError: no", "why"], [FRAME]], [None, None, [], []]]

    phase = read("phase", chain=told)

    assert isinstance(phase, Phase)
    frame = Frame("src/cart.py", 12, "total", "return sum(cart)", (("cart", "[1]"),), ("n = 1",))
    assert phase.exceptions == (
        Raised("cause", "the last 60 of 90 frames", ("ValueError: no", "why"), (frame,)),
        Raised(None, None, (), ()),
    )
    assert frame.place == "src/cart.py:12"


def test_the_place_of_a_frame_is_one_line_whatever_its_code_says() -> None:
    phase = read("phase", chain=[[None, None, [], [["a\nnotices: all passed", *FRAME[1:]]]]])

    assert isinstance(phase, Phase)
    assert phase.exceptions[0].frames[0].place == "a\\nnotices: all passed:12"


@pytest.mark.parametrize("duration", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_a_number_that_json_cannot_say_is_no_event(duration: bytes) -> None:
    record = b'{"k":"finished","n":1,"id":"x","passed":true,"duration":%b}'

    assert parse(record % b"1.5") is not None
    assert parse(record % duration) is None


def test_a_whole_number_passes_for_a_duration() -> None:
    assert read("finished", id="x", duration=2, passed=True) == finished("x", 2)
