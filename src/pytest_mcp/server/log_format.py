"""Log records as lines of JSON on stderr.

In come records of Python's logging, ours and those of libraries. They may quote a client, so messages are cut and
unsafe characters escaped. What is logged of a call is decided in `telemetry`, how lines are written in `log_output`.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from pytest_mcp import text
from pytest_mcp.config.model import LogLevel
from pytest_mcp.server.log_output import NonBlockingHandler

# In characters.
LONGEST_MESSAGE = 2_000
LONGEST_TRACEBACK = 20_000
# The attribute of a record with further keys of its line.
FIELDS = "fields"
# Warns about every malformed request, so that any client could fill the log.
_NOISY = "uvicorn"


def set_up(level: LogLevel) -> None:
    """Log our own records from this level on, and those of libraries from `warning` on."""
    chosen = logging.getLevelNamesMapping()[level.upper()]
    handler = _handler()
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    root.handlers = [handler]
    # Below `warning`, libraries log the content of requests and answers.
    root.setLevel(max(chosen, logging.WARNING))
    logging.getLogger("pytest_mcp").setLevel(chosen)
    logging.getLogger(_NOISY).setLevel(logging.ERROR if chosen >= logging.WARNING else logging.WARNING)


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
