"""A cart as text."""

from shop.cart import Cart


def rows(cart: Cart) -> list[str]:
    return [f"{line.quantity} x {line.name}" for line in cart.lines]


def receipt(cart: Cart) -> str:
    return "\n".join([*rows(cart), f"total {cart.total():.2f}"])
