from shop.cart import Cart
from shop.receipt import receipt, rows


def test_each_line_has_a_row() -> None:
    cart = Cart()
    cart.add("green tea", "4.50", quantity=2)

    assert rows(cart) == ["2 x green tea"]


def test_the_last_row_is_the_total() -> None:
    cart = Cart()
    cart.add("teapot", "21.00")

    assert receipt(cart).splitlines()[-1] == "total 25.20"
