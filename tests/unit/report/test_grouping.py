import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.results import FailureGroup
from pytest_mcp.events.model import Phase
from pytest_mcp.report import grouping
from pytest_mcp.report.grouping import CAUSE_CHARACTERS
from tests.support.records import ledger, phase

HERE = ["src/shop/cart.py", 12]
THERE = ["src/shop/cart.py", 13]


def grouped(*phases: Phase) -> list[FailureGroup]:
    return grouping.group(ledger(*phases).completed)


def groups_of(first: str, second: str, parameters: tuple[str, str] = ("a", "b")) -> int:
    """How many groups two failures at one place with these messages form."""
    return len(
        grouped(
            *(
                phase(f"test_a.py::test_one[{parameter}]", message=message, location=HERE)
                for message, parameter in zip((first, second), parameters, strict=True)
            )
        )
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("ValueError: 3 items", "ValueError: 17 items", id="numbers"),
        pytest.param("ValueError: took 1.25s", "ValueError: took 0.5s", id="fractions"),
        pytest.param("E: <Cart object at 0x7f3a5c1e9d90>", "E: <Cart object at 0x55d0c0ffee00>", id="addresses"),
        pytest.param("E: /tmp/pytest-0/a0/f.txt", "E: /tmp/pytest-1/b0/f.txt", id="temporary paths"),
        pytest.param("E: /private/var/folders/x/y", "E: /private/var/folders/z/q", id="temporary paths of macOS"),
        pytest.param(
            "E: no order 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
            "E: no order 9f1c2a7e-0d52-4d6c-a1a0-3f5b8f6f0c11",
            id="uuids",
        ),
        pytest.param("E: at 2024-02-29T12:00:01", "E: at 2026-11-16T23:59:59", id="times"),
        pytest.param("E: 5d41402abc4b2a76b9719d911017c592", "E: 7d793037a0760186574b0282f2f435e7", id="digests"),
    ],
)
def test_what_differs_from_run_to_run_makes_no_second_cause(first: str, second: str) -> None:
    assert groups_of(first, second) == 1


def test_what_differs_from_parameter_to_parameter_makes_no_second_cause() -> None:
    assert groups_of("KeyError: 'pencil'", "KeyError: 'paper'", ("pencil", "paper")) == 1
    assert groups_of("E: EUR: a::b[c]", "E: USD: d::e[f]", ("EUR-a::b[c]", "USD-d::e[f]")) == 1


@pytest.mark.parametrize(
    ("first", "second", "parameters"),
    [
        pytest.param("ValueError: no", "TypeError: no", ("a", "b"), id="another type"),
        pytest.param("ValueError: no", "TypeError: no", ("ValueError", "TypeError"), id="a type that is a parameter"),
        pytest.param("ValueError: no", "TypeError: no", ("Value", "Type"), id="a part of a type that is a parameter"),
        pytest.param("Http404: no", "Http500: no", ("a", "b"), id="a number in the type"),
        pytest.param("ValueError: no", "ValueError: yes", ("a", "b"), id="another word"),
        pytest.param("ValueError", "ValueError: no", ("a", "b"), id="a word more"),
        pytest.param("ValueError: no\nassert a", "ValueError: no\nassert b", ("x", "y"), id="another second line"),
        pytest.param("E: /srv/tmp/stock", "E: /srv/tmp/prices", ("a", "b"), id="a folder of the project called tmp"),
        pytest.param("E: aa", "E: bb", ("a", "b"), id="parameters of one letter"),
        pytest.param("", "ValueError", ("a", "b"), id="nothing"),
    ],
)
def test_another_type_or_other_words_are_another_cause(first: str, second: str, parameters: tuple[str, str]) -> None:
    assert groups_of(first, second, parameters) == 2


@given(
    st.text(string.ascii_letters, min_size=1, max_size=8),
    st.text(string.ascii_letters, min_size=1, max_size=8),
    st.text(string.ascii_letters, min_size=1, max_size=8),
)
def test_two_types_are_never_one_cause_whatever_the_parameters(first: str, second: str, parameter: str) -> None:
    count = groups_of(f"{first}: no", f"{second}: no", (f"{first}-{parameter}", f"{second}-{parameter}"))

    assert count == (1 if first == second else 2)


def test_another_phase_or_another_place_is_another_cause() -> None:
    groups = grouped(
        phase("test_a.py::a", message="ValueError: no", location=HERE),
        phase("test_a.py::b", message="ValueError: no", location=THERE),
        phase("test_a.py::c", message="ValueError: no", location=HERE, when="setup"),
        phase("test_a.py::d", message="ValueError: no", location=HERE, when="teardown"),
    )

    assert len(groups) == 4


def test_the_place_is_the_projects_last_frame_when_the_crash_lies_outside() -> None:
    library = ["/usr/lib/python3.11/json/decoder.py", 355]
    shallow = "src/shop/cart.py:12: in load\n    loads()\n/usr/lib/python3.11/json/decoder.py:355: in decode\nE   no"
    other = shallow.replace("cart.py:12", "cart.py:40")

    groups = grouped(
        phase("test_a.py::a", message="ValueError: no", location=library, traceback=shallow),
        phase("test_a.py::b", message="ValueError: no", location=library, traceback=other),
        phase("test_a.py::c", message="ValueError: no", location=library, traceback=shallow),
    )

    assert [(cause.count, cause.location) for cause in groups] == [
        (2, "src/shop/cart.py:12"),
        (1, "src/shop/cart.py:40"),
    ]


def test_the_largest_cause_is_first_and_of_equal_ones_the_broken_setup() -> None:
    groups = grouped(
        phase("test_a.py::a", message="ValueError: no", location=HERE),
        phase("test_a.py::b", message="OSError: no", location=HERE, when="setup"),
        phase("test_a.py::c", message="TypeError: no", location=HERE),
        phase("test_a.py::d", message="TypeError: no", location=HERE),
    )

    assert [cause.message for cause in groups] == ["TypeError: no", "OSError: no", "ValueError: no"]


def test_a_group_has_its_first_failure_as_the_example_and_the_others_as_ids() -> None:
    ids = [f"test_a.py::test_one[{number}]" for number in range(3)]

    (cause,) = grouped(*(phase(node_id, message="ValueError: no\nmore", location=HERE) for node_id in ids))

    assert cause.model_dump() == {
        "count": 3,
        "message": "ValueError: no",
        "location": "src/shop/cart.py:12",
        "example": ids[0],
        "node_ids": ids[1:],
    }


@given(st.text())
def test_the_message_of_a_group_is_one_short_line(message: str) -> None:
    (cause,) = grouped(phase("test_a.py::a", message=message))

    assert "\n" not in cause.message
    assert len(cause.message) < CAUSE_CHARACTERS + 60


@given(st.text(), st.text())
def test_masking_takes_any_message_and_any_id(message: str, node_id: str) -> None:
    once = grouping.masked(message, node_id)

    assert grouping.masked(once, "") == once


messages = st.sampled_from(["ValueError: a", "ValueError: b 1", "ValueError: b 2", "TypeError: a", "", "Odd words"])
failures = st.lists(st.tuples(messages, st.sampled_from([HERE, THERE, None])), max_size=30)


@given(failures)
def test_coarser_groups_are_fewer_and_hold_every_failure_once(told: list[tuple[str, list[object] | None]]) -> None:
    groups = grouped(
        *(phase(f"test_a.py::t{n}", message=message, location=place) for n, (message, place) in enumerate(told))
    )

    steps = [groups, *grouping.coarser(groups)]

    assert all(len(steps[-1]) <= len(step) <= len(groups) for step in steps)
    for step in steps:
        ids = [node_id for cause in step for node_id in (cause.example, *cause.node_ids)]
        assert sorted(ids) == sorted(f"test_a.py::t{n}" for n in range(len(told)))
        assert sum(cause.count for cause in step) == len(told)
        assert [cause.count for cause in step] == sorted((cause.count for cause in step), reverse=True)


def test_causes_that_share_a_line_say_how_many_they_are() -> None:
    groups = grouped(
        *(phase(f"test_a.py::t{n}", message=f"ValueError: word{'x' * n}", location=HERE) for n in range(3))
    )

    of_one_type = grouping.coarser(groups)[-1]

    assert [(cause.count, cause.message) for cause in of_one_type] == [(3, "ValueError: word (and 2 similar)")]
