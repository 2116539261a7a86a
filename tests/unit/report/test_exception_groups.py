"""How an exception group is shown: the group, then each of its members."""

from pytest_mcp.report import failures, rendering
from pytest_mcp.report.example_style import ExampleStyle
from tests.support.invented.records import frame, ledger, phase


def test_a_group_is_told_with_each_of_its_members_and_without_the_line_that_the_message_has() -> None:
    nursery = "ExceptionGroup: nursery (2 sub-exceptions)"
    raising = frame("/usr/lib/python3.12/asyncio/taskgroups.py:145", "__aexit__", "raise me from None")
    chain = [
        ["group", None, [nursery], [frame("src/shop/app.py:3", "main", "async with group:"), raising]],
        ["member", None, ["KeyError: 'pen'"], []],
        [None, None, ["ValueError: closed", "below"], [frame("src/shop/cart.py:12", "total", "return sum(cart)")]],
    ]

    (record,) = ledger(phase(message=nursery, chain=chain)).completed

    assert rendering.render(failures.failure_of(record), ExampleStyle()).split("\n") == [
        "src/shop/app.py:3: in main",
        "    async with group:",
        "... 1 frame in python3.12/asyncio",
        "the group holds:",
        "E   KeyError: 'pen'",
        "and:",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
        "E   ValueError: closed",
        "E   below",
    ]


def cause(message: str, *chain: tuple[str | None, str]) -> str:
    told = [[link, None, [headline], []] for link, headline in chain]
    (record,) = ledger(phase(message=message, chain=told)).completed
    return failures.failure_of(record).cause


def test_of_two_groups_the_one_that_the_message_tells_is_named() -> None:
    inner, outer = "ExceptionGroup: inner (1 sub-exception)", "ExceptionGroup: outer (1 sub-exception)"
    chain = [("group", inner), ("cause", "KeyError: 'i'"), ("group", outer), (None, "ValueError: o")]

    assert cause(outer, *chain) == f"{outer}: ValueError: o"
    assert cause("ValueError('o') [single exception in MultiError]", *chain) == f"{outer}: ValueError: o"


def test_a_message_that_only_looks_like_that_of_a_group_stays() -> None:
    chain = [
        ("group", "ExceptionGroup: g (1 sub-exception)"),
        ("context", "KeyError: 1"),
        (None, "RuntimeError: Group]"),
    ]

    assert cause("RuntimeError: Group]", *chain) == "RuntimeError: Group]"


def test_members_that_python_did_not_write_are_counted() -> None:
    many = "ExceptionGroup: many (30 sub-exceptions)"
    members = [("member", f"ValueError: {number}") for number in range(15)]

    told = cause(many, ("group", many), *members, (None, "and 15 more exceptions"))

    assert told == f"{many}: ValueError: 0; ValueError: 1; ValueError: 2; and 27 more"
