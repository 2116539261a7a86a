"""What `/metrics` shows: counts and durations of calls, and how many run or wait now, in Prometheus' text format.

The labels are names of tools and outcomes only: a client cannot create new ones. Needs the extra `metrics`; loaded
only for `--metrics`.
"""

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pytest_mcp.server.telemetry import Facts
from pytest_mcp.server.turns import CallSlots

# Upper bounds in seconds: from one warm test to the longest default time limit, and beyond.
BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240, 600, 1800)


class Metrics:
    def __init__(self, calls: CallSlots) -> None:
        self.registry = CollectorRegistry()
        self.finished = Counter("pytest_mcp_calls", "Finished calls.", ("tool", "outcome"), registry=self.registry)
        self.seconds = Histogram(
            "pytest_mcp_call_seconds",
            "Time from a call to its answer, including the time in the queue.",
            ("tool",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        for name, meaning, now in (
            ("running", "Calls that run now.", lambda: len(calls.scopes) - calls.waiting),
            ("queue", "Calls that wait for a slot.", lambda: calls.waiting),
            ("slots", "Calls that can run at once (--max-runs).", lambda: calls.at_once),
        ):
            Gauge(f"pytest_mcp_{name}", meaning, registry=self.registry).set_function(now)

    def count(self, facts: Facts) -> None:
        """One finished call, as it is logged."""
        tool = str(facts["tool"])
        self.finished.labels(tool, str(facts["outcome"])).inc()
        self.seconds.labels(tool).observe(float(facts["seconds"]))

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)(scope, receive, send)
