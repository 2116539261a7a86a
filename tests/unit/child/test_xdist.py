"""The parts of `child/xdist_controller.py` and `child/xdist_worker.py` that need no run."""

from typing import Any

import pytest

from tests.support.child import ours

controller, worker = ours("xdist_controller"), ours("xdist_worker")


class Text(str):
    __slots__ = ()


class Silent:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        *((value, value) for value in (1, 2**99, -(2**31), None, True, 1.5, b"x", ("a", {1}), frozenset({2}))),
        (-(2**31) - 1, "-2147483649"),
        ("a\udcff", "a\\udcff"),
        (Text("x"), "x"),
        ({(Text("k"),): [Text("t")]}, {("k",): ["t"]}),
        (Silent(), "[the value cannot be shown: turning it into text raised RuntimeError]"),
    ],
)
def test_what_xdist_cannot_send_is_sent_as_text(value: Any, sent: Any) -> None:
    assert repr(worker.sendable(value)) == repr(sent)


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("test_a.py::test_a", "test_a.py::test_a"),
        ("test_a.py::test_a@group", "test_a.py::test_a"),
        ("test_a.py::test_a[x]@a_b", "test_a.py::test_a[x]"),
        ("test_a.py::test_a[x@y]", "test_a.py::test_a[x@y]"),
        ("test_a.py::test_a[x@y]@g", "test_a.py::test_a[x@y]"),
        ("a@b/test_a.py::test_a", "a@b/test_a.py::test_a"),
    ],
)
def test_the_group_of_an_id_is_what_xdist_has_appended(nodeid: str, name: str) -> None:
    assert controller.ungrouped(nodeid) == name
