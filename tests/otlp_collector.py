"""A local collector of traces: takes OTLP over HTTP, as protobuf.

with Collector() as collector:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
"""

import gzip
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import LoopbackServer, Quiet
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector(LoopbackServer):
    """Keeps what it is sent; a silent one never answers."""

    def __init__(self, *, silent: bool = False) -> None:
        self.spans: list[dict[str, Any]] = []
        """In the order in which they ended."""
        self.metrics: list[str] = []
        """Names."""
        self.service = ""
        self.silent = silent
        self.is_over = threading.Event()
        collector = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                if collector.silent:
                    collector.ended.wait()
                    return
                collector.take(self.path, body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

        super().__init__(Handler)

    def __exit__(self, *given: object) -> None:
        self.is_over.set()
        super().__exit__(*given)

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/metrics":
            sent = ExportMetricsServiceRequest.FromString(body)
            self.metrics += [
                metric.name
                for resource in sent.resource_metrics
                for scope in resource.scope_metrics
                for metric in scope.metrics
            ]
            return
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.service = _attributes(resource.resource.attributes)["service.name"]
            self.spans += [
                {
                    "name": span.name,
                    "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(),
                    "attributes": _attributes(span.attributes),
                }
                for scope in resource.scope_spans
                for span in scope.spans
            ]


def _attributes(given: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in given}
