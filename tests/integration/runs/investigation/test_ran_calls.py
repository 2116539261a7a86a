"""What an investigation tells of the calls of a failing test, where no base passes."""

import pytest

from tests.support.workbench import Workbench

pytestmark = pytest.mark.anyio
SHOP = """
def price(item):
    if item["count"] > 2:
        return bulk(item)
    return item["price"] * item["count"]

def bulk(item):
    return item["price"]

def checked(item):
    if item["count"] < 0:
        raise ValueError("negative")
    return item

def total(*items):
    checked_items = [checked(item) for item in items]
    return sum(map(price, checked_items))
"""
TESTS = """
import shop
def sold(*counts): return shop.total(*({"price": 3, "count": count} for count in counts))
def test_two(): assert sold(1, 2) == 9
def test_three(): assert sold(1, 3) == 12
def test_negative(): assert sold(1, -2) == -3
"""


async def ran(bench: Workbench, name: str) -> list[str]:
    bench.write({"shop.py": SHOP, "test_shop.py": TESTS})
    found = await bench.investigate(node_id=f"test_shop.py::{name}", runs=2)
    return [line for line in found["evidence"] if line.startswith(("ran: ", "unlike "))]


async def test_suspects_are_told_with_what_they_got_and_gave_and_where_a_passing_test_went_another_way(
    bench: Workbench,
) -> None:
    lines = await ran(bench, "test_three")

    assert lines[0].startswith("ran: total(items=({'price': 3, 'count': 1}, {'price': 3, 'count': 3})) returns 6")
    assert "ran: bulk(item={'price': 3, 'count': 3}) returns 3 (shop.py:6)" in lines
    assert lines[-1] == (
        "unlike test_shop.py::test_two, where price(item={'price': 3, 'count': 2}) returns 6 (shop.py:1): "
        "price(item={'price': 3, 'count': 3}) returns 3 (shop.py:1)"
    )


async def test_the_calls_that_an_exception_came_through_are_told_first(bench: Workbench) -> None:
    lines = await ran(bench, "test_negative")

    assert lines[0].startswith("ran: total(items=")
    assert lines[1] == "ran: checked(item={'price': 3, 'count': -2}) raises ValueError('negative') (shop.py:9)"
