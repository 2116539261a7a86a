"""The progress of a run as one line for a terminal. When it is drawn is decided in `bar`. Pure."""

from pytest_mcp import text
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps
from pytest_mcp.server import progress
from pytest_mcp.terminal import colours
from pytest_mcp.terminal.colours import Painter

BAR_COLUMNS = 20
# A file's name is not shown in fewer columns.
LEAST_FILE_COLUMNS = 8
GAP = "  "


def line(made: Ledger | Steps, seconds: float, *, width: int, painter: Painter, long: str | None = None) -> str:
    """For example: [====>     ]  123/980  2 failed  4.2 s  tests/test_x.py

    Narrower than the terminal, so that it does not wrap. Parts that do not fit are left out, the bar first. A test that
    runs for long stands in place of the file.
    """
    if isinstance(made, Steps):
        return colours.last_columns(f"{text.span(seconds)}{GAP}{progress.words(made)}", width - 1)
    ledger = made
    failed = progress.failed(ledger) if ledger.failed else ""
    parts = {"bar": _bar(ledger), "state": _state(ledger), "failed": failed, "span": text.span(seconds)}
    for name in ("bar", "span", "failed", "state"):
        if _columns(parts) >= width:
            parts[name] = ""
    left = width - 1 - _columns(parts) - len(GAP)
    name = long or text.safe_line(progress.latest_file(ledger))
    file = colours.last_columns(name, left) if left >= LEAST_FILE_COLUMNS else ""
    return _joined(parts | {"failed": painter.paint(parts["failed"], "red"), "file": file})


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
