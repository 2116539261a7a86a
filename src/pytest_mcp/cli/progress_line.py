"""How far a run has come, as one line for a terminal. When it is drawn is decided in `progress_bar`. Pure."""

from pytest_mcp import text
from pytest_mcp.cli import colours
from pytest_mcp.cli.colours import Ink
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.server import progress

BAR_COLUMNS = 20
# Fewer columns of a file's name tell nothing.
LEAST_FILE = 8
GAP = "  "


def line(ledger: Ledger, seconds: float, *, width: int, pen: Ink) -> str:
    """For example: [====>     ]  123/980  2 failed  4.2 s  tests/test_x.py

    Narrower than the terminal, or it would go on in the next line. What has no room is left out, the bar first.
    """
    failed = progress.failed(ledger) if ledger.failed else ""
    parts = {"bar": _bar(ledger), "state": _state(ledger), "failed": failed, "span": text.span(seconds)}
    for name in ("bar", "span", "failed", "state"):
        if _columns(parts) >= width:
            parts[name] = ""
    left = width - 1 - _columns(parts) - len(GAP)
    file = colours.last_columns(text.safe_line(progress.latest_file(ledger)), left) if left >= LEAST_FILE else ""
    return _joined(parts | {"failed": pen.paint(parts["failed"], "red"), "file": file})


def _joined(parts: dict[str, str]) -> str:
    return GAP.join(filter(None, parts.values()))


def _state(ledger: Ledger) -> str:
    if ledger.items:
        return f"{len(ledger.items)} tests"
    if ledger.selected:
        return progress.counts(ledger)
    return "collecting" if ledger.session_started else "starting"


def _columns(parts: dict[str, str]) -> int:
    return colours.columns(_joined(parts))


def _bar(ledger: Ledger) -> str:
    if not ledger.selected or ledger.items:
        return ""
    done = min(BAR_COLUMNS, BAR_COLUMNS * ledger.finished // ledger.selected)
    return f"[{('=' * done + '>')[:BAR_COLUMNS]:{BAR_COLUMNS}}]"
