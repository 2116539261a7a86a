"""One log record for each call, and the same facts on the current span if the process has a tracer.

What was asked, printed or answered is never logged. The start and the stop of the server are logged here too.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace

from pytest_mcp import __version__, text
from pytest_mcp.api.errors import CallError
from pytest_mcp.api.results import Shape, Summary
from pytest_mcp.process import additions
from pytest_mcp.report.report import Report
from pytest_mcp.server.logs import FIELDS

# The names on a span begin with this.
NAMESPACE = "pytest_mcp"
COUNTS = ("total", "passed", "failed", "skipped", "errors")

logger = logging.getLogger(__name__)

Facts = dict[str, str | int | float]
# Gets the facts of every finished call.
Observer = Callable[[Facts], None]


class CallRecord:
    """The facts of one call; it counts as cancelled until it is answered or fails."""

    def __init__(self) -> None:
        self.facts: Facts = {"outcome": "cancelled"}
        # The outcomes of finished tests, for a call that fails.
        self.counts: Facts = {}

    def known(self, value: Any) -> None:
        """What the handler of the tool returned, whether an answer or an error is made of it."""
        if isinstance(value, Report) and value.has_begun:
            self.counts = _counts(value.summary)

    def answered(self, result: Shape) -> None:
        self.facts = {"outcome": "answered", **_facts(result)}

    def failed(self, error: CallError) -> None:
        self.facts = {"outcome": "failed", "code": error.code}
        if isinstance(kind := error.data.get("error_type"), str):
            self.facts["error_type"] = kind
        self.facts |= self.counts


@contextmanager
def lifetime(**facts: str) -> Iterator[None]:
    """Log the start of the server, and its stop when the block ends. A server that is killed logs no stop."""
    began = time.monotonic()
    logger.info("started", extra={FIELDS: {"version": __version__, **facts}})
    try:
        yield
    finally:
        logger.info("stopped", extra={FIELDS: {"seconds": round(time.monotonic() - began, 3)}})


@contextmanager
def entry(tool: str, client: str, observer: Observer | None = None) -> Iterator[CallRecord]:
    """Log the call when the block ends, also by an exception."""
    record = CallRecord()
    began = time.monotonic()
    try:
        yield record
    finally:
        facts: Facts = {"tool": tool, "seconds": round(time.monotonic() - began, 3), **record.facts}
        # The client chose this text.
        logger.info("call", extra={FIELDS: {"client": text.in_line(client), **facts}})
        with additions.spared("metrics"):
            if observer is not None:
                observer(facts)
            trace.get_current_span().set_attributes(
                {f"{NAMESPACE}.{name}": fact for name, fact in record.facts.items()}
            )


def _facts(result: Shape) -> Facts:
    facts = {name: getattr(result, name, None) for name in ("verdict", "kind", "count")}
    summary = getattr(result, "summary", None)
    counts = _counts(summary) if isinstance(summary, Summary) else {}
    return {name: fact for name, fact in facts.items() if isinstance(fact, str | int)} | counts


def _counts(summary: Summary) -> Facts:
    return {name: getattr(summary, name) for name in COUNTS}
