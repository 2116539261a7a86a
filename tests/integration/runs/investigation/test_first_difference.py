"""`investigation/difference/search.py` and `child/call_tracing.py`, through real runs of two trees of one project."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_mcp.investigation.difference.search import Differences, DifferenceSearch
from pytest_mcp.investigation.difference.side import Side
from pytest_mcp.investigation.repetitions import Seeds, run_once
from pytest_mcp.investigation.result import DifferenceAtBase
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.python import interpreter
from pytest_mcp.run.attempt import Deadline
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench

pytestmark = pytest.mark.anyio
SHOP = """
RATE = 2

class Cart:
    def __init__(self, *items):
        self.items = list(items)

    def total(self):
        return sum(price(each) for each in self.items)

def price(item):
    if item["count"] > 1:
        return item["price"] * item["count"]
    return item["price"]

def taxed(amount):
    return amount * RATE

def login(user, password):
    return user + ":" + password
"""
TESTS = """
    import shop

    def test_total():
        assert shop.Cart({"price": 3, "count": 1}, {"price": 2, "count": 2}).total() == 7

    def test_taxed():
        assert shop.taxed(2) == 4

    def test_login():
        assert shop.login("ann", "hunter2") == "ann:hunter2"
"""


async def runner_of(bench: Workbench) -> Runner:
    chosen, *_ = [candidate async for candidate in interpreter.candidates(bench.config, bench.root)]
    return Seeds(1).apply(Runner(bench.config, chosen, Deadline.after(PATIENCE)))


async def differences(
    bench: Workbench, name: str, changed: Mapping[str, str], *, shows_values: bool = True
) -> tuple[Differences, list[str]]:
    """Between the shop and one with these words replaced; and the steps."""
    other = Workbench(bench.root.parent / "base", bench.environment)
    text = SHOP
    for old, new in changed.items():
        text = text.replace(old, new)
    for each, shop in ((bench, text), (other, SHOP)):
        each.write({"shop.py": shop, "tests/test_shop.py": TESTS, "conftest.py": ""})
    node_id, steps = f"tests/test_shop.py::{name}", list[str]()
    base, now = [replace(await runner_of(each), on_step=steps.append) for each in (other, bench)]
    now = replace(now, config=now.config._replace(shows_values=shows_values))
    seen = await run_once(now, node_id)
    sides = Side(base, "at the base"), Side(now, "here", seen)
    return await DifferenceSearch(*sides, node_id).run(), steps


async def test_the_first_call_that_gives_something_else_is_told_with_values_and_line(every_bench: Workbench) -> None:
    seen, steps = await differences(every_bench, "test_total", {'item["count"] > 1': 'item["count"] > 2'})

    (found,) = seen.found
    assert (found.function, found.file, found.line) == ("price", "shop.py", 10)
    assert found.arguments == "item={'price': 2, 'count': 2}"
    assert found.differs == [DifferenceAtBase(what="result", base="4", now="2")]
    assert found.parts_at == 'line 11 `if item["count"] > 2:`, at the base `if item["count"] > 1:`'
    assert found.called_by == "test_total > Cart.total (shop.py:8)"
    assert found.then == ["Cart.total: 7 at the base, 5 now"]
    assert len(steps) == 5


async def test_where_a_constant_of_a_module_differs_the_module_is_told(every_bench: Workbench) -> None:
    seen, _ = await differences(every_bench, "test_taxed", {"RATE = 2": "RATE = 3"})

    first = seen.found[0]
    assert (first.function, first.file) == ("<module>", "shop.py")
    assert DifferenceAtBase(what="result", base="{'RATE': 2}", now="{'RATE': 3}") in first.differs


async def test_secrets_are_not_shown_and_no_values_shows_none(bench: Workbench) -> None:
    wrong = {'user + ":" +': 'user + "-" +'}
    seen, _ = await differences(bench, "test_login", wrong)
    without, _ = await differences(bench, "test_login", wrong, shows_values=False)

    assert seen.found[0].arguments == "user='ann', password='***'"
    assert "ann" not in str(without.found)
    assert without.found[0].differs == [DifferenceAtBase(what="result", base="<text>", now="<text>")]


async def test_a_test_that_fails_for_another_reason_when_it_is_traced_is_not_compared(bench: Workbench) -> None:
    wrong = {"    if item": "    import sys\n    assert sys.gettrace() is None\n    if item", "> 1": "> 2"}

    seen, _ = await differences(bench, "test_total", wrong)

    assert seen.found == ()
    assert seen.problem is not None
    assert "something else happened" in seen.problem
