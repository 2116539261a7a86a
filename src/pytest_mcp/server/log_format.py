"""What the server tells whoever runs it: one JSON line on standard error for each record.

In come records of Python's logging, ours and those of the libraries; what they quote may be a stranger's words, so
it is bounded and made safe to look at. Contents of calls are never told. What is told of a call is in `telemetry`.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from pytest_mcp import text
from pytest_mcp.config.model import LogLevel
from pytest_mcp.server.log_output import NonBlockingHandler

# A record says what happened; whoever needs more has the traceback.
LONGEST_MESSAGE = 2_000
LONGEST_TRACEBACK = 20_000
# Where a record keeps what is more than words.
FIELDS = "fields"
# A stranger can have it warn of every request.
_TALKATIVE = "uvicorn"


def set_up(level: LogLevel) -> None:
    """From now on: our own records from this level on, those of libraries only if they are warnings."""
    chosen = logging.getLevelNamesMapping()[level.upper()]
    handler = _handler()
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    root.handlers = [handler]
    # Below that, libraries tell what is in requests and answers.
    root.setLevel(max(chosen, logging.WARNING))
    logging.getLogger("pytest_mcp").setLevel(chosen)
    logging.getLogger(_TALKATIVE).setLevel(logging.ERROR if chosen >= logging.WARNING else logging.WARNING)


def _handler() -> logging.Handler:
    try:
        return NonBlockingHandler(sys.stderr.fileno())
    except (OSError, AttributeError):
        # stderr was closed before we were started.
        return logging.NullHandler()


class OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _told(record.getMessage(), LONGEST_MESSAGE),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["traceback"] = _told(self.formatException(record.exc_info), LONGEST_TRACEBACK)
        return json.dumps(line, ensure_ascii=False)


def _told(words: str, limit: int) -> str:
    return text.safe(text.cut_middle(words.strip(), limit))
