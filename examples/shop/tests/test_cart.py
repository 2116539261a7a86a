from decimal import Decimal

import pytest

from shop.cart import Cart


@pytest.fixture
def cart() -> Cart:
    cart = Cart()
    cart.add("green tea", "4.50", quantity=2)
    cart.add("teapot", "21.00")
    return cart


def test_an_empty_cart_costs_nothing() -> None:
    assert Cart().net() == 0


def test_net_counts_quantities(cart: Cart) -> None:
    assert cart.net() == Decimal("30.00")


@pytest.mark.parametrize("quantity", [0, -1])
def test_a_quantity_below_one_is_refused(quantity: int) -> None:
    with pytest.raises(ValueError, match="less than one"):
        Cart().add("green tea", "4.50", quantity)


def test_vat_is_a_fifth_of_the_net_price(cart: Cart) -> None:
    assert cart.vat() == Decimal("6.00")


def test_total_is_net_and_vat(cart: Cart) -> None:
    assert cart.total() == Decimal("36.00")
