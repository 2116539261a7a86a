"""Send a span for every message to a collector of OpenTelemetry, by OTLP over HTTP.

Needs the extra `otel`; loaded only for `--traces`. Where spans go, and which, is set by OpenTelemetry's own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT` and others). The SDK of MCP creates the spans; what is on them is decided in `telemetry`.
"""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def start() -> None:
    """A thread sends from now on; what is left is sent when the process exits."""
    is_named = "OTEL_SERVICE_NAME" in os.environ or SERVICE_NAME in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if is_named else {SERVICE_NAME: "pytest-mcp"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
