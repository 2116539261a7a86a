"""`node_ids` of `investigate_failure`, on a project with two bugs, an old failure and a test that passes."""

import pytest

from tests.support.runs.at_base import commit
from tests.support.workbench import Workbench

pytestmark = pytest.mark.anyio
SHOP = """
def price(count): return 2 * count
def tax(amount): return amount + 1
def old(): return 1
"""
TESTS = """
import shop, pytest
@pytest.mark.parametrize("count", [1, 2, 3])
def test_price(count): assert shop.price(count) == 2 * count
def test_tax(): assert shop.tax(1) == 2
def test_old(): assert shop.old() == 2
def test_new(): assert shop.price(0) == 0
"""


async def test_several_tests_are_told_apart_and_counted_by_the_call_where_they_part(bench: Workbench) -> None:
    bench.write({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    commit(bench)
    bench.write({"shop.py": SHOP.replace("2 * count", "3 * count").replace("amount + 1", "amount - 1")})
    names = ["test_price[1]", "test_price[2]", "test_price[3]", "test_tax", "test_old", "test_new"]

    found = await bench.investigate(node_ids=[f"tests/test_shop.py::{name}" for name in names], runs=2)

    kinds = {each["node_id"].partition("::")[2]: each["kind"] for each in found["tests"]}
    assert kinds == {
        **dict.fromkeys(names[:4], "deterministic"),
        "test_old": "pre_existing",
        "test_new": "passes",
    }
    assert found["kind"] == "deterministic"
    assert found["evidence"][1:4] == [
        "3 of 5 failing tests part at price (shop.py:1)",
        "1 of 5 failing tests part at tax (shop.py:2)",
        "what follows is about tests/test_shop.py::test_price[1]",
    ]
    assert [each["function"] for each in found["first_difference"]] == ["price", "tax"]
    assert found["rerun"] == {"node_ids": [f"tests/test_shop.py::{name}" for name in names[:5]]}


async def test_a_test_that_hangs_ends_the_process_or_cannot_be_imported_hides_no_other(bench: Workbench) -> None:
    bench.write(
        {
            "test_a.py": "import os, time\ndef test_ends(): os._exit(3)\ndef test_hangs(): time.sleep(600)\n",
            "test_b.py": "def test_fails(): assert 0\ndef test_passes(): pass\n",
            "test_c.py": "import missing\ndef test_c(): pass\n",
        }
    )
    names = ["test_a.py::test_ends", "test_a.py::test_hangs", "test_b.py::test_fails", "test_b.py::test_passes"]
    names.append("test_c.py::test_c")

    found = await bench.investigate(node_ids=names, runs=2, timeout=30)

    assert [each["kind"] for each in found["tests"]] == [
        "deterministic",
        "hangs",
        "deterministic",
        "passes",
        "deterministic",
    ]
