from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api import did_you_mean

SOURCE = """
class TestCart:
    def test_total(self): pass
    class TestEmpty:
        async def test_nothing(self): pass

def test_prices(): pass
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "shop").mkdir(parents=True)
    (tmp_path / "tests" / "shop" / "test_cart.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "tests" / "price_test.py").touch()
    (tmp_path / "shop.py").touch()
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "test_hidden.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("tests/shop/test_crat.py", "tests/shop/test_cart.py"),
        ("test", "tests"),
        ("tests/sohp", "tests/shop"),
        ("tests/shep", "tests/shop"),
        ("tests/SHOP", "tests/shop"),
        ("TESTS", "tests"),
        ("tests/sale", None),
        ("test_cart.py", "tests/shop/test_cart.py"),
        ("shop/test_cart.py", "tests/shop/test_cart.py"),
        ("tests/shop/nowhere.py", None),
        ("test_hidden.py", None),
        ("tests/shop/cart.py", "tests/shop/test_cart.py"),
        ("tests/shop/cart_test.py", "tests/shop/test_cart.py"),
        ("tests/price.py", "tests/price_test.py"),
        ("tests/test_price.py", "tests/price_test.py"),
        ("cart.py", "tests/shop/test_cart.py"),
        ("tests/shop.py", "shop.py"),
        ("cart", None),
        ("tests.shop.test_cart", "tests/shop/test_cart.py"),
        ("x." * 3000, None),
    ],
)
def test_a_missing_path_is_compared_with_its_folder_and_then_with_the_project(
    root: Path, asked: str, meant: str | None
) -> None:
    assert did_you_mean.near_path(root, asked) == meant


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("test_price", "test_prices"),
        ("test_price[1-2]", "test_prices"),
        ("TestCart::test_totals", "TestCart::test_total"),
        ("TestCart::TestEmpty::test_nothin", "TestCart::TestEmpty::test_nothing"),
        ("test_something_else", None),
        ("TestCart::test_tax", None),
        ("test_total", "TestCart::test_total"),
        ("test_total[1]", "TestCart::test_total"),
        ("TestBasket::test_total", "TestCart::test_total"),
        ("test_totl", "TestCart::test_total"),
        ("test_nothing", "TestCart::TestEmpty::test_nothing"),
        ("TestCart::test_prices", "test_prices"),
        ("TestCrat", "TestCart"),
        ("TestCart.test_total", "TestCart::test_total"),
        ("TestCart::", "TestCart"),
        ("TestEmpty", "TestCart::TestEmpty"),
    ],
)
def test_a_missing_test_is_compared_with_those_of_its_file(root: Path, asked: str, meant: str | None) -> None:
    assert did_you_mean.near_test(root / "tests/shop/test_cart.py", asked) == meant


def test_the_exact_name_in_a_class_comes_before_a_similar_name(root: Path) -> None:
    file = root / "tests/shop/test_cart.py"
    file.write_text(f"{SOURCE}\ndef test_totals(): pass\n", encoding="utf-8")

    assert did_you_mean.near_test(file, "test_total") == "TestCart::test_total"
    assert did_you_mean.near_test(file, "test_totales") == "test_totals"


def test_of_several_exact_names_the_one_whose_class_is_nearest_is_meant(root: Path) -> None:
    file = root / "tests/shop/test_cart.py"
    file.write_text(f"{SOURCE}\nclass TestBasket:\n    def test_total(self): pass\n", encoding="utf-8")

    assert did_you_mean.near_test(file, "TestBaskets::test_total") == "TestBasket::test_total"


def test_what_cannot_be_read_has_no_near_match(root: Path) -> None:
    assert did_you_mean.near_test(root / "tests", "test_a") is None
    assert did_you_mean.near_test(root / "nowhere.py", "test_a") is None
    assert did_you_mean.near_path(root / "nowhere", "test_a.py") is None


@given(st.binary(max_size=300), st.text(max_size=40))
def test_whatever_a_file_holds_there_is_an_answer(
    tmp_path_factory: pytest.TempPathFactory, source: bytes, name: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.py"
    file.write_bytes(source)

    assert did_you_mean.near_test(file, name) is None or isinstance(did_you_mean.near_test(file, name), str)
