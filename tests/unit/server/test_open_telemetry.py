"""`--traces` with the real exporter and a collector on loopback."""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from tests.support.waiting import PATIENCE

TRACED = """
from opentelemetry import trace
from pytest_mcp.server import open_telemetry
open_telemetry.start()
trace.get_tracer("test").start_span("a call").end()
"""


def test_spans_reach_the_collector_at_the_latest_when_the_process_exits() -> None:
    received = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        Thread(target=collector.serve_forever, daemon=True).start()
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        subprocess.run([sys.executable, "-c", TRACED], env=os.environ | variables, timeout=PATIENCE, check=True)
        collector.shutdown()

    ((path, body),) = received
    assert path == "/v1/traces"
    assert b"a call" in body
    assert b"pytest-mcp" in body
