"""An OpenTelemetry collector that only decodes: collector.py

It listens on loopback and on a port that the system chooses, and prints ERRAND_COLLECTOR as a shell export.

- POST /v1/traces and /v1/metrics decode OTLP/JSON with the classes that PyPI's opentelemetry-proto contains. An unknown
  name, a wrong type or an identity of a wrong length is answered with status 400 and the reason.
- GET /received?service=NAME returns what a service has sent, as a JSON array of the decoded messages.
"""

import base64
import gzip
import http.server
import json
import threading
import urllib.parse

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

MESSAGES = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
}
LENGTHS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
RECEIVED = []
LOCK = threading.Lock()


def standard(value):
    """OTLP writes identities in hexadecimal digits and enumerations as numbers; protobuf's JSON has base64."""
    if isinstance(value, list):
        return [standard(element) for element in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, member in value.items():
        if "_" in name:
            raise ValueError(f"{name} is not in lowerCamelCase")
        if name in LENGTHS:
            identity = bytes.fromhex(member)
            if len(identity) != LENGTHS[name]:
                raise ValueError(f"{name} has {len(identity)} bytes")
            member = base64.b64encode(identity).decode()
        elif name.endswith("UnixNano") and not isinstance(member, str):
            raise ValueError(f"{name} is not a string")
        elif name in ("kind", "code", "aggregationTemporality") and not isinstance(member, int):
            raise ValueError(f"{name} is not a number")
        result[name] = standard(member)
    return result


def service(resource):
    return next((a.value.string_value for a in resource.attributes if a.key == "service.name"), "")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.read()
        try:
            if self.headers["Content-Type"] != "application/json":
                raise ValueError("the content type is not application/json")
            message = MESSAGES[self.path]()
            json_format.ParseDict(standard(json.loads(body)), message, ignore_unknown_fields=False)
        except Exception as error:
            return self.answer(400, {"message": str(error)})
        parts = message.resource_spans if self.path == "/v1/traces" else message.resource_metrics
        decoded = json_format.MessageToDict(message)
        with LOCK:
            RECEIVED.append((service(parts[0].resource), decoded))
        self.answer(200, {})

    def read(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while length := int(self.rfile.readline(), 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        with LOCK:
            self.answer(200, [decoded for name, decoded in RECEIVED if name in query.get("service", [])])


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"export ERRAND_COLLECTOR=http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
