"""What a customer is about to buy. Money is exact: Decimal, never float."""

from dataclasses import dataclass, field
from decimal import Decimal

VAT = 0.2


@dataclass(frozen=True)
class Line:
    name: str
    price: Decimal
    quantity: int = 1


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, name: str, price: str, quantity: int = 1) -> None:
        if quantity < 1:
            raise ValueError("a cart cannot hold less than one of a thing")
        self.lines.append(Line(name, Decimal(price), quantity))

    def net(self) -> Decimal:
        return sum((line.price * line.quantity for line in self.lines), Decimal(0))

    def vat(self) -> Decimal:
        return self.net() * VAT

    def total(self) -> Decimal:
        return self.net() + self.vat()
