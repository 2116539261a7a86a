"""What is kept of a call, in the log and on its span, with a real tracer and without one."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.report.verdict import Evidence
from pytest_mcp.server.telemetry import CallRecord
from scripts.environments import ENVIRONMENTS
from tests.support.protocol.hostile_server import GONE_SECONDS, HostileServer, within

# A host that traces: it brings the tracer and an exporter, and then serves.
TRACED = """
import sys
file, site = sys.argv[1:3]
del sys.argv[1:3]
sys.path.append(site)
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
spans = open(file, "w")
exporter = ConsoleSpanExporter(out=spans, formatter=lambda span: span.to_json(indent=None) + "\\n")
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from pytest_mcp.cli.main import main
sys.exit(main())
"""
# One that does not, and says in the end which modules were there.
PLAIN = """
import atexit, pathlib, sys
file = pathlib.Path(sys.argv.pop(1))
atexit.register(lambda: file.write_text("\\n".join(sys.modules)))
from pytest_mcp.cli.main import main
sys.exit(main())
"""
(OTEL,) = ENVIRONMENTS["otel"].python.parent.parent.glob("lib/python*/site-packages")
HALF = {"test_half.py": "def test_fine(): pass\ndef test_bad(): assert 0, 'secret'\n"}

NewHost = Callable[..., HostileServer]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[NewHost]:
    servers = []

    def start(*program: str) -> HostileServer:
        (tmp_path / "server").mkdir()
        servers.append(HostileServer(tmp_path / "server", "--log-level=info", program=program).greeted())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def spans_in(file: Path) -> list[dict[str, Any]]:
    spans = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [span for span in spans if span["name"].startswith("tools/call")]


def ours(span: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in span["attributes"].items() if name.startswith("pytest_mcp.")}


def test_a_call_is_one_span_with_its_tool_its_verdict_and_its_counts(hosted: NewHost, tmp_path: Path) -> None:
    file = tmp_path / "spans"
    server = hosted("-c", TRACED, str(file), str(OTEL))
    server.project(HALF)

    server.result()
    server.refused(timeout=0)
    within(GONE_SECONDS, lambda: len(spans_in(file)) == 2)

    answered, refused = spans_in(file)
    assert (answered["name"], answered["attributes"]["gen_ai.tool.name"]) == (
        "tools/call execute_tests",
        "execute_tests",
    )
    assert ours(answered) == {
        "pytest_mcp.outcome": "answered",
        "pytest_mcp.verdict": "failed",
        "pytest_mcp.total": 2,
        "pytest_mcp.passed": 1,
        "pytest_mcp.failed": 1,
        "pytest_mcp.skipped": 0,
        "pytest_mcp.errors": 0,
    }
    assert ours(refused) == {"pytest_mcp.outcome": "failed", "pytest_mcp.code": -32602}
    assert "secret" not in json.dumps(answered)


def test_without_a_tracer_nothing_of_one_is_loaded_and_the_log_has_start_call_and_stop(
    hosted: NewHost, tmp_path: Path
) -> None:
    file = tmp_path / "modules"
    server = hosted("-c", PLAIN, str(file))
    server.project(HALF)

    server.result()
    server.call("secret", secret="secret")
    server.close()

    loaded = file.read_text(encoding="utf-8").split("\n")
    assert "opentelemetry.trace" in loaded
    assert not [name for name in loaded if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))]
    assert "prometheus_client" not in loaded
    lines = [json.loads(line) for line in server.log.read_text(encoding="utf-8").splitlines()]
    told = [(line["message"], line.get("transport") or line.get("client")) for line in lines]
    assert told == [("started", "stdio"), *[("call", "raw 1")] * 2, ("stopped", None)]
    assert [line["tool"] for line in lines[1:3]] == ["execute_tests", "unknown"]
    assert "secret" not in server.log.read_text(encoding="utf-8")


def test_of_a_failed_call_its_code_its_kind_and_what_had_finished_are_kept() -> None:
    entry, error = CallRecord(), ExecutionFailed("timeout", "secret", RunFacts(stdout="secret"))
    tests = [RanTest(f"a.py::{number}", "failed" if number else "passed", 0.1) for number in (0, 1)]

    entry.known(Report(Evidence(has_no_result=True), tests=tests, problem=error))
    entry.failed(error)

    assert entry.facts == {
        "outcome": "failed", "code": -32000, "error_type": "timeout",
        "total": 2, "passed": 1, "failed": 1, "skipped": 0, "errors": 0,
    }  # fmt: skip


def test_a_call_that_nobody_waited_for_was_cancelled() -> None:
    assert CallRecord().facts == {"outcome": "cancelled"}
