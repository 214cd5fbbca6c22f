import Errand
import ErrandSupport
import ErrandTelemetry
import ErrandTesting
import Foundation

/// Collects spans and measurements.
final class Collected: SpanExporter, MetricRecorder {
  struct Value: Sendable, Hashable {
    let value: Double
    let instrument: String
    let attributes: Attributes
  }

  private let all = Locked<(spans: [Span], values: [Value])>(([], []))

  var spans: [Span] { all.withLock { $0.spans } }
  /// The spans of attempts, in the order of their ends.
  var attempts: [Span] { spans.filter { $0.kind == .client } }
  /// The spans of calls, in the order of their ends.
  var calls: [Span] { spans.filter { $0.attributes["errand.call.id"] != nil } }
  /// The spans of groups, in the order of their ends.
  var groups: [Span] { spans.filter { $0.attributes["errand.group.id"] != nil } }
  var values: [Value] { all.withLock { $0.values } }

  func values(of instrument: Instrument) -> [Value] { values.filter { $0.instrument == instrument.name } }

  func export(_ span: Span) { all.withLock { $0.spans.append(span) } }

  func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) {
    all.withLock { $0.values.append(Value(value: value, instrument: instrument.name, attributes: attributes)) }
  }
}

/// A server, a client with telemetry, and what the telemetry reports.
final class TelemetryFixture: Sendable {
  let server: LoopbackServer
  let collected = Collected()
  let client: APIClient

  init(
    _ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .ok("hello") },
    telemetry change: (inout Telemetry) -> Void = { _ in },
    client changeClient: (inout ClientConfiguration) -> Void = { _ in }
  ) throws {
    server = try LoopbackServer(handler: handler)
    var configuration = ClientConfiguration(baseURL: server.url)
    var telemetry = Telemetry(spans: collected, metrics: collected)
    change(&telemetry)
    configuration.telemetry = telemetry
    changeClient(&configuration)
    client = APIClient(configuration)
  }

  /// The contexts that the server received, in the order of the requests; nil for a request without one.
  var received: [TraceContext?] {
    server.requests.map { TraceContext(traceparent: $0.headers["traceparent"]) }
  }
}

struct GetNote: APIRequest {
  typealias Response = Data

  var id = 7
  var headers = RequestHeaders()
  var query: Arguments = [:]
  var path: Path { "/notes/\(id, name: "noteID")" }
  var arguments: Arguments { query }
}

extension AttributeValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
}

/// Waits, without sleeping, until `holds` returns true. Returns false after two minutes.
func until(_ holds: () async -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if await holds() { return true }
    await Task.yield()
  }
  return await holds()
}
