"""Names and files of the tests in the generated shop. Ids have about ten tokens, as in many real projects."""

from collections.abc import Iterator
from itertools import islice

AREAS = (
    *("orders", "carts", "prices", "stock", "customers", "invoices", "shipping", "refunds", "vouchers", "catalogue"),
    *("payments", "accounts", "reviews", "returns", "suppliers", "taxes", "search", "mailing", "exports", "reports"),
)
# Enough for ten thousand tests.
ASPECTS = (
    *("api", "cache", "dates", "emails", "events", "export", "filters", "forms", "history", "import"),
    *("limits", "models", "pages", "queries", "roles", "rounding", "search", "storage", "webhooks"),
)
DEEDS = ("refund", "total", "address", "discount", "history")
CASES = ("cancelled", "empty", "gift", "abroad", "returning")

TESTS = tuple(f"test_{deed}_if_{case}" for deed in DEEDS for case in CASES)


def files() -> Iterator[str]:
    """One file for each area, then one for each aspect of each area."""
    yield from (f"tests/test_{area}.py" for area in AREAS)
    yield from (f"tests/{area}/test_{area}_{aspect}.py" for area in AREAS for aspect in ASPECTS)


def tests(count: int) -> list[tuple[str, str]]:
    """File and name of the first `count` tests."""
    return list(islice(((file, test) for file in files() for test in TESTS), count))
