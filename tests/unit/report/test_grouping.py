import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import failures, grouping
from pytest_mcp.report.grouping import CAUSE_CHARACTERS, Group
from pytest_mcp.run.events import Phase
from tests.support.invented.records import frame, ledger, phase, raised

SOURCE = "src/shop/cart.py:12"
ELSEWHERE = "src/shop/stock.py:30"
TEST = "tests/test_cart.py:7"
OPERANDS = "unsupported operand type(s) for +: 'int' and 'str'"
LIBRARY = "/usr/lib/python3.12/json/decoder.py:355"
PACKAGE = "/env/lib/python3.12/site-packages/moto/core.py:9"


def grouped(*phases: Phase) -> list[Group]:
    return grouping.group([failures.failure_of(record) for record in ledger(*phases).completed])


def groups_of(first: str, second: str, *below: str, parameters: tuple[str, str] = ("a", "b")) -> int:
    """How many causes two failures have with these messages, from two places, with the same frames below."""
    return len(
        grouped(
            raised(first, TEST, SOURCE, *below, node_id=f"tests/test_cart.py::test_one[{parameters[0]}]"),
            raised(second, TEST, ELSEWHERE, *below, node_id=f"tests/test_cart.py::test_two[{parameters[1]}]"),
        )
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("ValueError: 3 pens", "ValueError: 17 pens", id="numbers"),
        pytest.param("ValueError: pens took 1.25s", "ValueError: pens took 0.5s", id="fractions"),
        pytest.param("E: no pens in /tmp/a0/f.txt", "E: no pens in /tmp/b0/f.txt", id="paths"),
        pytest.param(
            "E: no order 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
            "E: no order 9f1c2a7e-0d52-4d6c-a1a0-3f5b8f6f0c11",
            id="uuids",
        ),
        pytest.param("E: pens at 2024-02-29T12:00:01", "E: pens at 2026-11-16T23:59:59", id="times"),
        pytest.param(
            "E: pen 5d41402abc4b2a76b9719d911017c592", "E: pen 7d793037a0760186574b0282f2f435e7", id="digests"
        ),
        pytest.param(f"E: no pens in '{'x' * 50}'", f"E: no pens in '{'y' * 60}'", id="long strings"),
    ],
)
def test_words_that_differ_in_a_value_are_two_causes_of_two_places_with_one_frame_below(
    first: str, second: str
) -> None:
    assert groups_of(first, second, PACKAGE) == groups_of(first, second, LIBRARY) == groups_of(first, second) == 2


def test_addresses_make_no_second_cause_of_one_frame_below() -> None:
    first, second = (f"E: no pens in <Cart object at {address}>" for address in ("0x7f3a5c1e9d90", "0x55d0c0ffee00"))

    assert groups_of(first, second, PACKAGE) == 1
    assert groups_of(first, second) == 2


def test_what_differs_from_parameter_to_parameter_makes_a_second_cause_of_another_place() -> None:
    first, second = ("KeyError: 'pencil' in shelf", "KeyError: 'paper' in shelf")

    assert groups_of(first, second, LIBRARY, parameters=("pencil", "paper")) == 2


def test_the_same_words_are_one_cause_of_a_frame_in_pythons_own_library_only_if_something_is_missing() -> None:
    def causes(said: str) -> list[int]:
        return [groups_of(said, said, below) for below in (PACKAGE, LIBRARY)]

    assert causes("KeyError: 'SHOP_URL'") == [1, 1]
    assert causes("FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'") == [1, 1]
    assert causes("JSONDecodeError: Expecting value: line 1 column 1 (char 0)") == [1, 2]


def wrapped(first: str, place: str, name: str, link: str = "cause") -> Phase:
    """Raised at one place of the source, from what was raised elsewhere."""
    said = "ServiceError: request to service failed"
    chain = [[link, None, [first], [frame(SOURCE), frame(place)]], [None, None, [said], [frame(TEST), frame(SOURCE)]]]
    return phase(f"tests/test_cart.py::{name}", message=said, chain=chain)


@pytest.mark.parametrize("link", ["cause", "context"])
def test_one_exception_that_wraps_others_has_as_many_causes_as_it_wraps(link: str) -> None:
    groups = grouped(
        wrapped("ValueError: invalid literal: 'x'", ELSEWHERE, "test_a", link),
        wrapped("ValueError: invalid literal: 'y'", ELSEWHERE, "test_b", link),
        wrapped("KeyError: 'user'", ELSEWHERE, "test_c", link),
        wrapped("ValueError: invalid literal: 'x'", "src/shop/stock.py:31", "test_d", link),
    )

    assert [cause.count for cause in groups] == [2, 1, 1]


def test_assertions_on_two_lines_of_one_test_function_are_two_causes() -> None:
    lines = {1: 7, 2: 7, 3: 9, 4: 9, 5: 9}
    groups = grouped(
        *(
            raised(
                f"AssertionError: assert {n} == 0", f"tests/test_cart.py:{line}", node_id=f"tests/test_cart.py::t[{n}]"
            )
            for n, line in lines.items()
        )
    )

    assert [cause.count for cause in groups] == [3, 2]


@pytest.mark.parametrize("different", [("/x/ffmpeg", "/x/pandoc"), ("5d41402abc4b", "7d793037a076"), ("pen", "ink")])
@pytest.mark.parametrize("said", ["no price of {}", "assert not OSError('no price of {}')"])
def test_a_value_tells_assertions_of_two_files_apart_and_not_those_of_one_line(
    said: str, different: tuple[str, str]
) -> None:
    def causes(*files: str) -> int:
        told = zip(files, different, strict=True)
        return len(
            grouped(*(raised(f"AssertionError: {said.format(v)}", f"{f}:3", node_id=f"{f}::t[{v}]") for f, v in told))
        )

    assert causes("tests/test_a.py", "tests/test_b.py") == 2
    assert causes("tests/test_a.py", "tests/test_a.py") == 1


@pytest.mark.parametrize(
    "said", ["ValueError: no pens", "AttributeError: 'NoneType' object has no attribute 'upper'", "KeyError: 'pen'"]
)
def test_the_same_words_from_two_places_of_the_project_are_two_causes(said: str) -> None:
    assert groups_of(said, said) == 2


def test_one_text_of_assertions_in_two_tests_is_one_cause_unless_a_number_differs() -> None:
    def causes(*said: str) -> int:
        told = enumerate(said)
        return len(
            grouped(*(raised(text, f"tests/test_{n}.py:3", node_id=f"tests/test_{n}.py::t") for n, text in told))
        )

    assert causes("AssertionError: cause A\nassert 1 == 2", "AssertionError: cause A\nassert 1 == 2") == 1
    assert causes("AssertionError: cause 1\nassert False", "AssertionError: cause 2\nassert False") == 2
    assert causes("AssertionError: cause A\nassert 1 == 2", "AssertionError: cause A\nassert 1 == 3") == 2


def test_many_tests_that_raise_words_with_a_number_in_them_have_a_cause_each() -> None:
    tests = [
        raised(f"RuntimeError: cause {n}", f"tests/test_{n}.py:{n}", node_id=f"tests/test_{n}.py::test_{n}[{m}]")
        for n in range(12)
        for m in range(40)
    ]

    assert [cause.count for cause in grouped(*tests)] == [40] * 12


@pytest.mark.parametrize("kind", ["ModuleNotFoundError", "ImportError"])
def test_what_is_absent_is_one_cause_wherever_it_was_asked_for(kind: str) -> None:
    assert groups_of(f"{kind}: No module named 'ink_1'", f"{kind}: No module named 'ink_1'") == 1
    assert groups_of(f"{kind}: No module named 'ink_1'", f"{kind}: No module named 'ink_2'") == 2


def test_an_absent_fixture_is_one_cause_for_all_tests_that_ask_for_it() -> None:
    def asking(fixture: str, test: str) -> Phase:
        text = f"file /project/{test}.py, line 3\nE       fixture '{fixture}' not found\n\n/project/{test}.py:3"
        return phase(f"{test}.py::{test}", when="setup", traceback=text)

    asked = (asking("db_1", "test_a"), asking("db_1", "test_b"), asking("db_2", "test_c"))

    assert [cause.count for cause in grouped(*asked)] == [2, 1]


def test_hexadecimal_values_tell_causes_apart() -> None:
    assert groups_of("ValueError: bad pen 0xdeadbeef", "ValueError: bad pen 0xdeadbeee", LIBRARY) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("ValueError: no pens", "TypeError: no pens", id="another type"),
        pytest.param("ValueError: no pens", "ValueError: no pencils", id="another word"),
        pytest.param("ValueError: no pens", "ValueError: no pens left", id="a word more"),
        pytest.param("ValidationError: of Pen\n  no ink", "ValidationError: of Pen\n  no cap", id="another line"),
        pytest.param("KeyError: 'missing_0'", "KeyError: 'missing_11'", id="a word with a number in it"),
        pytest.param("IndexError: list index out of range", "IndexError: list index out of range", id="Python's words"),
        pytest.param(f"TypeError: {OPERANDS}", f"TypeError: {OPERANDS}", id="Python's types"),
        pytest.param("AssertionError: assert 0 == 0", "AssertionError: assert 0 == 0", id="numbers alone"),
        pytest.param(
            "AssertionError: \nArrays are not equal\nx: ['pen']",
            "AssertionError: \nArrays are not equal\nx: ['ink']",
            id="numpy",
        ),
        *(
            pytest.param(f"AssertionError: {said}\n\nx: 1", f"AssertionError: {said}\n\nx: 2", id=said)
            for said in (
                "Tensor-likes are not close!",
                "The values for attribute 'shape' do not match: torch.Size([3, 2]) != torch.Size([2, 3]).",
                "DataFrames are different (dtypes do not match, differences only)",
                "Left and right DataArray objects are not equal",
                "Series are different (values not within tolerance)",
                "Approval Mismatch, received != approved",
                "Values are not sufficiently close.",
                "some snapshots in this test have incorrect values.",
                "assert [+ received] == [- snapshot]",
                "Hypothesis found 2 distinct failures. (2 sub-exceptions)",
                "unhandled errors in a TaskGroup (1 sub-exception)",
            )
        ),
    ],
)
def test_causes_that_only_look_alike_stay_apart(first: str, second: str) -> None:
    assert groups_of(first, second) == groups_of(first, second, LIBRARY) == 2


def test_texts_of_a_plugin_that_begin_with_the_same_line_are_one_cause_only_if_all_of_them_agree() -> None:
    """As those of notebook cells do, which have neither an exception nor a place."""
    said = ("Cell failed\nTraceback:\nZeroDivisionError", "Cell failed\nTraceback:\nKeyError: 'pen'")
    cells = [phase(f"demo.ipynb::Cell {number}", traceback=text) for number, text in enumerate((*said, *said))]

    assert [cause.count for cause in grouped(*cells)] == [2, 2]


def test_one_type_from_one_place_is_one_cause_whatever_the_words() -> None:
    groups = grouped(
        raised("UsageError: no pens", TEST, SOURCE, node_id="tests/test_cart.py::test_pens"),
        raised("UsageError: nothing to write with", TEST, SOURCE, node_id="tests/test_cart.py::test_paper"),
    )

    assert [cause.count for cause in groups] == [2]


def test_one_place_in_a_library_reached_from_two_places_is_two_causes() -> None:
    groups = grouped(
        raised("JSONDecodeError: Expecting value", TEST, SOURCE, LIBRARY, node_id="tests/test_cart.py::test_a"),
        raised("JSONDecodeError: Extra data", TEST, ELSEWHERE, LIBRARY, node_id="tests/test_cart.py::test_b"),
    )

    assert len(groups) == 2


def test_groups_from_one_place_in_a_library_are_told_apart_by_what_they_hold() -> None:
    nursery = "ExceptionGroup: Exceptions from the nursery (1 sub-exception)"

    def of_trio(member: str, place: str, name: str) -> Phase:
        chain = [["group", None, [nursery], [frame(LIBRARY)]], [None, None, [member], [frame(place)]]]
        return phase(f"tests/test_cart.py::{name}", message=nursery, chain=chain)

    one = [of_trio("ValueError: no pens", SOURCE, name) for name in ("test_a", "test_b")]
    other = of_trio("AssertionError: assert 1 == 2", TEST, "test_c")

    assert [(cause.count, cause.location) for cause in grouped(*one, other)] == [(2, SOURCE), (1, TEST)]


def test_groups_that_share_only_their_last_member_are_told_apart() -> None:
    several = "ExceptionGroup: several (2 sub-exceptions)"

    def of(member: str, name: str) -> Phase:
        chain = [
            ["group", None, [several], []],
            ["member", None, [member], []],
            [None, None, ["KeyError: 'x'"], [frame(SOURCE)]],
        ]
        return phase(f"tests/test_cart.py::{name}", message=several, chain=chain)

    same = [of("ValueError: database is closed", name) for name in ("test_a", "test_b")]
    other = of("TypeError: takes no sprocket", "test_c")

    assert [cause.count for cause in grouped(*same, other)] == [2, 1]


def test_assertions_of_one_test_function_are_one_cause_and_of_two_are_two() -> None:
    one = [raised(f"AssertionError: assert {n} == 0", TEST, node_id=f"tests/test_cart.py::test_a[{n}]") for n in (1, 2)]
    other = raised("AssertionError: assert 3 == 0", "tests/test_cart.py:9", node_id="tests/test_cart.py::test_b")

    assert [cause.count for cause in grouped(*one, other)] == [2, 1]


def test_an_assertion_that_holds_another_tests_exception_joins_its_cause() -> None:
    shown = "AssertionError: assert not TypeError('price of pens is unknown')"
    groups = grouped(
        raised("TypeError: price of pens is unknown", TEST, SOURCE, node_id="tests/test_cart.py::test_a"),
        raised(shown, TEST, node_id="tests/test_cart.py::test_b"),
        raised(f"{shown}\n +  where x", "tests/test_cli.py:3", node_id="tests/test_cli.py::test_c"),
    )

    assert [cause.count for cause in groups] == [3]


def test_an_assertion_that_holds_what_two_places_raised_joins_neither() -> None:
    said = "TypeError: price of pens is unknown"
    groups = grouped(
        raised(said, TEST, SOURCE, node_id="tests/test_cart.py::test_a"),
        raised(said, TEST, ELSEWHERE, node_id="tests/test_cart.py::test_b"),
        raised("AssertionError: assert not TypeError('price of pens is unknown')", TEST, node_id="tests/t.py::test_c"),
    )

    assert [cause.count for cause in groups] == [1, 1, 1]


def test_an_object_whose_repr_raises_joins_no_cause() -> None:
    shown = "<[RuntimeError('cannot be shown') raised in repr()] Cart object at 0x7f3a5c1e9d90>"
    groups = grouped(
        raised(f"AssertionError: assert {shown} == 1", TEST, node_id="tests/test_cart.py::test_a"),
        raised(f"AssertionError: assert {shown} is None", "tests/test_cart.py:9", node_id="tests/test_cart.py::test_b"),
    )

    assert len(groups) == 2


def test_another_phase_is_another_cause() -> None:
    first = raised("ValueError: no pens", SOURCE, node_id="tests/test_cart.py::test_a", when="setup")
    second = raised("ValueError: sold out of ink", SOURCE, node_id="tests/test_cart.py::test_b")

    assert len(grouped(first, second)) == 2


def test_causes_in_the_source_come_first_then_the_largest() -> None:
    tests = [
        raised(f"AssertionError: assert {n} == 0", TEST, node_id=f"tests/test_a.py::test_a[{n}]") for n in range(3)
    ]
    small = raised("KeyError: 'pen'", TEST, SOURCE, node_id="tests/test_a.py::test_b")
    large = [raised("ValueError: no ink", TEST, ELSEWHERE, node_id=f"tests/test_a.py::test_c[{n}]") for n in range(2)]

    assert [cause.message for cause in grouped(*tests, small, *large)] == [
        "ValueError: no ink",
        "KeyError: 'pen'",
        "AssertionError: assert 0 == 0",
    ]


def test_the_example_is_the_failure_whose_way_leads_furthest_into_the_source() -> None:
    shallow = raised("ValueError: no pens", TEST, SOURCE, node_id="tests/test_a.py::test_a")
    deep = raised("ValueError: no pens", TEST, ELSEWHERE, SOURCE, node_id="tests/test_a.py::test_b")

    (cause,) = grouped(shallow, deep)

    assert cause.example.node_id == "tests/test_a.py::test_b"
    assert [other.node_id for other in cause.others] == ["tests/test_a.py::test_a"]


def test_a_group_names_the_places_of_its_members_with_counts() -> None:
    shown = "AssertionError: assert not TypeError('price of pens is unknown')"
    members = [
        raised(shown, f"tests/test_a.py:{line}", node_id=f"tests/test_a.py::test_{line}_{n}")
        for line, count in ((3, 3), (5, 2), (7, 1), (9, 1))
        for n in range(count)
    ]

    (cause,) = grouped(*members)

    assert cause.location == "tests/test_a.py:3 (3), :5 (2), :7 (1) and 1 more"


@pytest.mark.parametrize(
    ("place", "location"),
    [
        (LIBRARY, "python3.12/json/decoder.py:355"),
        ("/env/lib/python3.12/site-packages/moto/core.py:9", "site-packages/moto/core.py:9"),
        ("/env/lib/python3.12/site-packages/_pytest/python.py:177", None),
    ],
)
def test_a_place_in_a_library_is_told_without_what_leads_to_it_and_one_in_pytest_not_at_all(
    place: str, location: str | None
) -> None:
    (cause,) = grouped(raised("ValueError: no pens", place))

    assert cause.location == location


def test_the_other_tests_that_a_group_names_differ_as_much_as_can_be() -> None:
    shown = "AssertionError: assert not TypeError('price of pens is unknown')"
    ids = ["test_a.py::test_a[1]", "test_a.py::test_a[2]", "test_a.py::test_b", "test_b.py::test_c"]

    (cause,) = grouped(*(raised(shown, f"{name.partition('::')[0]}:3", node_id=name) for name in ids))

    assert cause.contrasting == ["test_b.py::test_c", "test_a.py::test_b"]


@given(st.text(min_size=1))
def test_the_message_of_a_group_is_one_short_line(message: str) -> None:
    (cause,) = grouped(phase(message=f"E: {message}"))

    assert "\n" not in cause.message
    assert len(cause.message) <= CAUSE_CHARACTERS + 60
