"""The message of a progress notification. When it is sent is decided in `app`. Pure."""

from pytest_mcp import text
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps


def words(made: Ledger | Steps) -> str:
    """For example: 123/980 · 2 failed · tests/test_x.py"""
    if isinstance(made, Steps):
        return text.safe_line(made.words)
    ledger = made
    return text.safe(" · ".join([counts(ledger), failed(ledger), latest_file(ledger)]))


def counts(ledger: Ledger) -> str:
    return f"{ledger.finished}/{ledger.selected or '?'}"


def failed(ledger: Ledger) -> str:
    return f"{ledger.failed} failed"


def latest_file(ledger: Ledger) -> str:
    return next(reversed(ledger.tests), "").partition("::")[0]
