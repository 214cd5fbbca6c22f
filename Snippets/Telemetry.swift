// Traces and metrics: spans of calls and attempts, the trace context of requests, and a collector.
import Errand
import ErrandTelemetry
import ErrandTesting
import Foundation

struct GetNote: APIRequest {
  let noteID: Int
  // snippet.path
  var path: Path { "/notes/\(noteID, name: "noteID")" }
  // snippet.end
  typealias Response = String
}

// snippet.own
struct PrintingExporter: SpanExporter {
  func export(_ span: Span) {
    print(span.name, span.context.traceID, span.attributes["http.response.status_code"] ?? "no response")
  }
}

struct PrintingRecorder: MetricRecorder {
  func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) {
    print(instrument.name, value, attributes["http.response.status_code"] ?? "no response")
  }
}
// snippet.end

let server = try LoopbackServer { _ in .ok("a note") }
let collector = try LoopbackServer { _ in .json("{}") }
let (endpoint, key) = (collector.url, "key")
var configuration = ClientConfiguration(baseURL: server.url)

// snippet.on
let exporter = OTLPExporter(
  endpoint: endpoint, headers: ["Api-Key": .secret(key)],
  resource: ["service.name": "notes", "service.version": "2.1"])
configuration.telemetry = Telemetry(spans: exporter, metrics: exporter)
// snippet.end

// snippet.settings
var telemetry = Telemetry(spans: exporter, metrics: exporter)
telemetry.sampler = .parent(orElse: .ratio(0.1))  // one trace in ten, unless the parent has decided
telemetry.propagatesTo = try .only(server.url)
telemetry.query = .values  // record the values of queries, except secrets
configuration.telemetry = telemetry
// snippet.end
let client = APIClient(configuration)
let fields = HTTPFields([
  HTTPField("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
  HTTPField("tracestate", "rojo=00f067aa0ba902b7"), HTTPField("baggage", "tenant=blue"),
])

// snippet.context
let context = TraceContext(traceparent: fields["traceparent"], tracestate: fields.values(of: "tracestate"))
let baggage = Baggage(fields: fields.values(of: "baggage"))
try await TraceContext.$current.withValue(context) {
  try await Baggage.$current.withValue(baggage) {
    print(try await client.send(GetNote(noteID: 7)))
  }
}
// snippet.end

client.configure { $0.telemetry = Telemetry(spans: PrintingExporter(), metrics: PrintingRecorder()) }
_ = try await client.send(GetNote(noteID: 8))

// snippet.counts
let counts = exporter.counts
if counts.dropped + counts.failed > 0 { print("\(counts.dropped) spans dropped, \(counts.failed) lost") }
// snippet.end

// snippet.end-of-app
await exporter.shutdown()
// snippet.end
