import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTelemetry

struct OTLPExporterTests {
  /// An exporter on a server, with a manual clock.
  private struct Fixture {
    let clock = ManualClock()
    let server: LoopbackServer
    let exporter: OTLPExporter

    init(
      _ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .json("{}") },
      headers: RequestHeaders = [:], options change: (inout OTLPExporter.Options) -> Void = { _ in }
    ) throws {
      server = try LoopbackServer(handler: handler)
      var options = OTLPExporter.Options()
      options.timers = clock
      options.batch = 2
      change(&options)
      exporter = OTLPExporter(
        endpoint: server.url, headers: headers, resource: ["service.name": "notes"], options: options)
    }

    func export(_ names: String...) { for name in names { exporter.export(ExportQueueTests.span(name)) } }

    /// The names of the spans in each request.
    var batches: [[String]] {
      server.requests.filter { $0.path == "/v1/traces" }.map { request in
        let value = try? JSONValue(parsing: Data(request.body))
        let spans = value?["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]
        let elements = spans?.arrayValue ?? []
        return elements.compactMap { $0["name"]?.stringValue }
      }
    }

    /// Advances the clock until a condition holds, but only while three timers are set: the interval of the exporter,
    /// the time-out of its request, and the wait before the next attempt. So no time passes while a request runs.
    func advance(until holds: () -> Bool) async -> Bool {
      await until {
        if clock.pending >= 3 { clock.advance(by: .milliseconds(100)) }
        return holds()
      }
    }
  }

  @Test func `full batch is sent`() async throws {
    let fixture = try Fixture(headers: ["Api-Key": .secret("s3cret")])
    fixture.export("a", "b")
    let request = try await fixture.server.request(number: 1)
    #expect(request.method == "POST")
    #expect(request.path == "/v1/traces")
    #expect(request.headers["Content-Type"] == "application/json")
    #expect(request.headers["Api-Key"] == "s3cret")
    #expect(fixture.batches == [["a", "b"]])
  }

  @Test func `no measurement ends before its start`() async throws {
    let clock = ClockSetBack()
    let fixture = try Fixture(options: { $0.clock = { clock.time() } })
    fixture.exporter.record(1, .activeRequests, [:])
    await fixture.exporter.flush()
    let body = try #require(fixture.server.requests.first?.bodyText)
    #expect(body.contains(#""startTimeUnixNano":"7""#) && body.contains(#""timeUnixNano":"7""#), "\(body)")
  }

  @Test func `partial batch is sent after the interval`() async throws {
    let fixture = try Fixture()
    fixture.export("a")
    fixture.clock.advance(by: .milliseconds(4_999))
    #expect(fixture.server.requests.isEmpty)
    fixture.clock.advance(by: .milliseconds(1))
    try await fixture.server.request(number: 1)
    #expect(fixture.batches == [["a"]])
  }

  @Test func `flush waits for the response`() async throws {
    let fixture = try Fixture(options: { $0.batch = 10 })
    fixture.export("a", "b", "c")
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a", "b", "c"]])
    #expect(fixture.exporter.counts.exported == 3)
    await fixture.exporter.flush()
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `flush ends while spans arrive`() async throws {
    let place = Locked<OTLPExporter?>(nil)
    let arrivals = Locked(0)
    let fixture = try Fixture(
      { _ in
        let isMore = arrivals.withLock { arrivals in
          arrivals += 1
          return arrivals < 20
        }
        if isMore { place.withLock { $0 }?.export(ExportQueueTests.span("later")) }
        return .json("{}")
      }, options: { $0.batch = 10 })
    place.withLock { $0 = fixture.exporter }
    fixture.export("a")
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a"]])
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a"], ["later"]])
    place.withLock { $0 = nil }
  }

  @Test func `later flush waits for its own spans and metrics`() async throws {
    let (first, second) = (Gate(), Gate())
    let fixture = try Fixture(
      { request in LoopbackAnswer.json("{}").held(at: request.bodyText.contains("\"b\"") ? second : first) },
      options: { $0.batch = 10 })
    fixture.export("a")
    async let early: Void = fixture.exporter.flush()
    try await fixture.server.request(number: 1)
    fixture.export("b")
    fixture.exporter.record(1, .activeRequests, [:])
    async let late: Void = fixture.exporter.flush()
    first.open()
    await early
    second.open()
    await late
    #expect(fixture.batches == [["a"], ["b"]])
    #expect(fixture.server.requests.filter { $0.path == "/v1/metrics" }.count == 1)
    #expect(fixture.exporter.counts.exported == 2)
  }

  @Test func `bytes divide a batch`() async throws {
    let size = OTLPEncoding.span(ExportQueueTests.span("a")).count
    let fixture = try Fixture(options: { ($0.batch, $0.bytes) = (10, 2 * size + 2) })
    fixture.export("a", "b", "c", String(repeating: "x", count: 3 * size))
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a", "b"], ["c"]])
    #expect(fixture.exporter.counts.exported == 3)
    #expect(fixture.exporter.counts.failed == 1)
  }

  @Test func `spans beyond the queue are dropped while the server stalls`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      { _ in LoopbackAnswer([.wait(gate)] + LoopbackAnswer.json("{}").steps) }, options: { $0.queue = 3 })
    fixture.export("a", "b")
    try await fixture.server.request(number: 1)
    fixture.export("c", "d", "e", "f", "g")
    #expect(fixture.exporter.counts.dropped == 2)
    gate.open()
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a", "b"], ["c", "d"], ["e"]])
    #expect(fixture.exporter.counts == .init(exported: 5, dropped: 2))
  }

  @Test(arguments: [429, 502, 503, 504])
  func `status is tried again`(_ status: Int) async throws {
    let fixture = try Fixture(options: { $0.interval = .seconds(1_000) })
    fixture.server.enqueue(.status(status))
    fixture.export("a", "b")
    #expect(await fixture.advance { fixture.exporter.counts.exported == 2 })
    #expect(fixture.batches == [["a", "b"], ["a", "b"]])
  }

  @Test(arguments: [400, 401, 404, 408, 413, 500])
  func `status is not tried again`(_ status: Int) async throws {
    let fixture = try Fixture { _ in .status(status) }
    fixture.export("a", "b")
    await fixture.exporter.flush()
    #expect(fixture.batches == [["a", "b"]])
    #expect(fixture.exporter.counts == .init(failed: 2))
  }

  @Test func `retry waits at least Retry-After`() async throws {
    let fixture = try Fixture(options: { $0.interval = .seconds(1_000) })
    fixture.server.enqueue(.status(503, fields: ["Retry-After": "7"]))
    let start = fixture.clock.now
    fixture.export("a", "b")
    #expect(await fixture.advance { fixture.exporter.counts.exported == 2 })
    #expect(start.duration(to: fixture.clock.now) >= .seconds(7))
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `batch is lost after the time-out`() async throws {
    let fixture = try Fixture({ _ in .status(503) }, options: { ($0.attempts, $0.interval) = (1_000, .seconds(1_000)) })
    fixture.export("a", "b")
    #expect(await fixture.advance { fixture.exporter.counts.failed == 2 })
    #expect(fixture.server.requests.count > 1)
  }

  @Test func `long outage leaves every batch its attempts`() async throws {
    let fixture = try Fixture({ _ in .status(503) }, options: { $0.interval = .seconds(10_000) })
    for number in 0..<30 { fixture.export("a\(number)", "b\(number)") }
    #expect(await fixture.advance { fixture.exporter.counts.failed == 60 })
    #expect(fixture.server.requests.count == 150)
  }

  @Test func `unreachable collector loses spans`() async throws {
    let fixture = try Fixture(options: { $0.attempts = 1 })
    fixture.server.stop()
    fixture.export("a", "b")
    await fixture.exporter.flush()
    #expect(fixture.exporter.counts == .init(failed: 2))
  }

  @Test(
    arguments: [
      (#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"x"}}"#, 1),
      (#"{"partialSuccess":{"rejectedSpans":2}}"#, 2), (#"{"partialSuccess":{"rejectedSpans":"99"}}"#, 2),
      (#"{"partialSuccess":{"rejectedSpans":"-1"}}"#, 0), (#"{"partialSuccess":{"rejectedSpans":"x"}}"#, 0),
      ("{}", 0), ("", 0), ("<html>", 0),
    ])
  func `rejected spans are counted`(_ body: String, _ rejected: Int) async throws {
    let fixture = try Fixture { _ in .json(body) }
    fixture.export("a", "b")
    await fixture.exporter.flush()
    #expect(fixture.exporter.counts == .init(exported: 2 - rejected, rejected: rejected))
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `shutdown sends the rest and accepts no more`() async throws {
    let fixture = try Fixture()
    fixture.export("a")
    fixture.exporter.record(1, .activeRequests, [:])
    await fixture.exporter.shutdown()
    fixture.export("b")
    fixture.exporter.record(1, .activeRequests, [:])
    await fixture.exporter.shutdown()
    #expect(fixture.batches == [["a"]])
    #expect(fixture.exporter.counts == .init(exported: 1, dropped: 1))
  }

  @Test func `metrics are sent after their interval`() async throws {
    let fixture = try Fixture()
    fixture.exporter.record(0.2, .requestDuration, ["server.address": "h.example"])
    fixture.clock.advance(by: .seconds(60))
    let request = try await fixture.server.request(number: 1)
    #expect(request.path == "/v1/metrics")
    let metrics = try JSONValue(parsing: Data(request.body))["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"]
    #expect(metrics?[0]?["name"] == "http.client.request.duration")
    #expect(metrics?[0]?["histogram"]?["dataPoints"]?[0]?["count"] == "1")
  }

  @Test func `failed metrics are sent again without new values`() async throws {
    let fixture = try Fixture(options: { $0.attempts = 1 })
    fixture.server.enqueue(.status(503))
    fixture.exporter.record(1, .activeRequests, [:])
    fixture.clock.advance(by: .seconds(60))
    #expect(await until { fixture.exporter.counts.failedMetrics == 1 })
    fixture.clock.advance(by: .seconds(60))
    let request = try await fixture.server.request(number: 2)
    let metrics = try JSONValue(parsing: Data(request.body))["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"]
    #expect(metrics?[0]?["sum"]?["dataPoints"]?[0]?["asDouble"]?.doubleValue == 1)
    // Only the timer of the metrics is left when the request has ended.
    #expect(await until { fixture.clock.pending == 1 })
    fixture.clock.advance(by: .seconds(60))
    try await fixture.server.request(number: 3)
    #expect(fixture.server.requests.allSatisfy { $0.path == "/v1/metrics" })
    await fixture.exporter.flush()
    #expect(fixture.exporter.counts.failedMetrics == 1)
  }

  @Test func `shutdown ends the timer of the metrics`() async throws {
    let fixture = try Fixture()
    fixture.exporter.record(1, .activeRequests, [:])
    await fixture.exporter.shutdown()
    #expect(await until { fixture.clock.pending == 1 })
    fixture.clock.advance(by: .seconds(60))
    #expect(fixture.clock.pending == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `metrics are sent at most once a second`(interval: Duration) async throws {
    let fixture = try Fixture(options: { $0.metricInterval = interval })
    fixture.exporter.record(1, .activeRequests, [:])
    #expect(fixture.clock.pending == 1 && fixture.server.requests.isEmpty)
    fixture.clock.advance(by: .seconds(1))
    try await fixture.server.request(number: 1)
  }

  @Test func `failed metrics are counted and sent with the next`() async throws {
    let fixture = try Fixture(options: { $0.attempts = 1 })
    fixture.server.enqueue(.status(500))
    fixture.exporter.record(1, .activeRequests, [:])
    await fixture.exporter.flush()
    #expect(fixture.exporter.counts.failedMetrics == 1)
    await fixture.exporter.flush()
    #expect(fixture.exporter.counts.failedMetrics == 1)
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `exporter is not traced`() async throws {
    let collected = Collected()
    let server = try LoopbackServer { _ in .json("{}") }
    let exporter = OTLPExporter(endpoint: server.url) { $0.telemetry = Telemetry(spans: collected) }
    exporter.export(ExportQueueTests.span())
    await TraceContext.$current.withValue(.root()) { await exporter.flush() }
    #expect(collected.spans.isEmpty)
    #expect(try await server.request(number: 1).headers["traceparent"] == nil)
  }

  @Test func `exporter can be released while spans wait`() throws {
    let clock = ManualClock()
    weak var released: OTLPExporter?
    do {
      var options = OTLPExporter.Options()
      options.timers = clock
      let exporter = OTLPExporter(endpoint: "http://127.0.0.1:9", options: options)
      exporter.export(ExportQueueTests.span())
      released = exporter
    }
    #expect(released == nil)
    clock.advance(by: .seconds(5))
  }

  @Test func `traced calls arrive at the collector`() async throws {
    let fixture = try Fixture(options: { $0.batch = 10 })
    let server = try TelemetryFixture(telemetry: { ($0.spans, $0.metrics) = (fixture.exporter, fixture.exporter) })
    _ = try await server.client.send(GetNote())
    await fixture.exporter.flush()
    #expect(fixture.batches == [["GET /notes/{noteID}", "GetNote"]])
    #expect(fixture.server.requests.map(\.path) == ["/v1/metrics", "/v1/traces"])
  }
}

/// A wall clock that is set back after it was read once.
private final class ClockSetBack: Sendable {
  private let wasRead = Locked(false)

  func time() -> UInt64 {
    wasRead.withLock { wasRead in
      defer { wasRead = true }
      return wasRead ? 5 : 7
    }
  }
}
