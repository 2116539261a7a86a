"""The first difference between a run that passes and one that fails, of a test whose code did not change."""

from typing import Any

import pytest

from pytest_mcp.investigation import repetitions
from tests.support.workbench import Workbench

pytestmark = pytest.mark.anyio
SHOP = """
import pathlib
PRICES = {"tea": 3}
class Settings:
    pwd = "first"

def login():
    return len(Settings.pwd)

TURNS = pathlib.Path(__file__).with_name("turns")

class Cart:
    items = []
    def count(self):
        return len(self.items)

def price(name):
    return PRICES[name]

def total(*names):
    return sum(price(name) for name in names)

def turn():
    number = int(TURNS.read_text()) + 1
    TURNS.write_text(str(number))
    return number % 2
"""
TESTS = """
import pytest, shop
@pytest.fixture(scope="module")
def cart(): return ["tea"]

def test_changes_price(): shop.PRICES["tea"] = 9
def test_fills_class(): shop.Cart.items.append(1)
def test_fills_fixture(cart): cart.append("milk")
def test_adds_milk(): shop.PRICES["milk"] = 1

def test_sets_password(): shop.Settings.pwd = "other one"
def test_login(): assert shop.login() == 5
def test_total(): assert shop.total("tea", "tea") == 6
def test_count(): assert shop.Cart().count() == 0
def test_cart(cart): assert len(cart) == 1
def test_milk(): assert shop.price("milk") == 1
def test_turn(): assert shop.turn()
"""
# The function, what differs first, where it passes and where it fails.
STATES = {
    "test_total": ("price", "PRICES['tea'] before", "3", "9"),
    "test_count": ("Cart.count", "Cart.items before", "[]", "[1]"),
    "test_login": ("login", "Settings.pwd before", "'***'", "'***'"),
    "test_cart": ("test_cart", "cart before", "['tea']", "['tea', 'milk']"),
    "test_milk": ("price", "PRICES before", "{'tea': 3, 'milk': 1}", "{'tea': 3}"),
}


async def investigated(bench: Workbench, name: str) -> Any:
    bench.write({"shop.py": SHOP, "test_shop.py": TESTS, "turns": "0"})
    return await bench.investigate(node_id=f"test_shop.py::{name}", runs=2)


@pytest.mark.parametrize("name", STATES)
async def test_the_state_that_other_tests_leave_is_named(bench: Workbench, name: str) -> None:
    found = await investigated(bench, name)

    assert found["kind"] == "order_dependent"
    assert "first difference: base is a run where it passes, now one where it fails" in found["evidence"]
    first = found["first_difference"][0]
    assert (first["function"].partition(".<locals>")[0], *first["differs"][0].values()) == STATES[name]


async def test_of_a_flaky_test_the_call_that_gave_two_results_is_told(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repetitions, "TRIES_OF_SEEDS", 1)

    found = await investigated(bench, "test_turn")

    assert (found["kind"], found["first_difference"][0]["function"]) == ("flaky", "turn")
    assert found["first_difference"][0]["differs"][0] == {"what": "result", "base": "1", "now": "0"}
