import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTelemetry

/// A collector that decodes OTLP/JSON with the classes of PyPI's `opentelemetry-proto`, and rejects what they do not
/// know.
struct CollectorTests {
  private struct Received: APIRequest {
    let service: String
    var path: Path { "/received" }
    var arguments: Arguments { ["service": service] }
    typealias Response = JSONValue
  }

  private func address() throws -> String {
    try #require(
      ProcessInfo.processInfo.environment["ERRAND_COLLECTOR"].flatMap { $0.isEmpty ? nil : $0 },
      "ERRAND_COLLECTOR is not set: run the tests by `make test`, which starts the servers")
  }

  @Test(arguments: [false, true])
  func `collector decodes spans and metrics`(_ compresses: Bool) async throws {
    let address = try address()
    let service = "notes \(UUID().uuidString)"
    var options = OTLPExporter.Options()
    options.compresses = compresses
    let exporter = OTLPExporter(endpoint: address, resource: ["service.name": .string(service)], options: options)
    let fixture = try TelemetryFixture(
      { $0.path == "/notes/7" ? .ok("x") : .status(500) },
      telemetry: { ($0.spans, $0.metrics) = (exporter, exporter) })
    let parent = try #require(
      TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: ["rojo=1"]))
    try await TraceContext.$current.withValue(parent) {
      _ = try await fixture.client.send(GetNote())
      _ = try? await fixture.client.send(GetNote(id: 8))
    }
    await exporter.flush()
    #expect(exporter.counts == .init(exported: 4))
    let received = try await APIClient(baseURL: address).send(Received(service: service))
    try check(spans: received[1]?["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"], fixture)
    let metrics = received[0]?["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"]
    #expect(
      (0..<4).map { metrics?[$0]?["name"]?.stringValue } == [
        "http.client.active_requests", "http.client.open_connections", "http.client.request.duration",
        "errand.client.connection.wait",
      ])
    #expect(metrics?[2]?["histogram"]?["aggregationTemporality"] == "AGGREGATION_TEMPORALITY_CUMULATIVE")
  }

  private func check(spans: JSONValue?, _ fixture: TelemetryFixture) throws {
    let attempt = try #require(spans?[0])
    let identity = attempt["traceId"]?.stringValue.flatMap { Data(base64Encoded: $0) } ?? Data()
    #expect(identity.starts(with: [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6]) && identity.count == 16)
    #expect(attempt["kind"] == "SPAN_KIND_CLIENT")
    #expect(attempt["traceState"] == "rojo=1")
    #expect(attempt["name"] == "GET /notes/{noteID}")
    #expect(attempt["parentSpanId"] == spans?[1]?["spanId"])
    #expect(spans?[1]?["kind"] == "SPAN_KIND_INTERNAL")
    #expect(spans?[2]?["status"]?["code"] == "STATUS_CODE_ERROR")
    let attributes = attempt["attributes"]?.arrayValue ?? []
    let port = attributes.first { $0["key"] == "server.port" }
    #expect(port?["value"]?["intValue"]?.stringValue == "\(fixture.server.port)")
  }

  @Test func `collector rejects an unknown name`() async throws {
    let body = JSONValue.object(["resourceSpans": [["scopeSpans": [["spans": [["unknown": 1]]]]]]])
    let client = APIClient(baseURL: try address())
    let outcome = await client.outcome(of: OneOff(.post, "/v1/traces", as: Data.self, body: .json(body)))
    #expect(outcome.error?.status == 400)
  }
}
