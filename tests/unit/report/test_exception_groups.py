"""How an exception group is shown: the group, then each of its members."""

from pytest_mcp.report import failures
from pytest_mcp.report.tracebacks import rendering
from pytest_mcp.report.tracebacks.style import Style
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

    assert rendering.render(failures.of_record(record), Style()).split("\n") == [
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
