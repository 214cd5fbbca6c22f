import Errand
@testable import ErrandCore
import ErrandSupport
import ErrandTelemetry
import ErrandTesting
import Foundation
import Testing

/// Which servers receive the trace context and the baggage, and which calls share an exchange.
struct PropagationTests {
  private static let names = ["traceparent", "tracestate", "baggage"]
  private static let own: RequestHeaders = [
    "Traceparent": "00-11111111111111111111111111111111-2222222222222222-01", "Tracestate": "own=1", "Baggage": "own=1",
  ]

  /// The names of those of the three fields that a request has.
  private func fields(_ request: RecordedRequest) -> [String] {
    Self.names.filter { request.headers[$0] != nil }
  }

  /// Sends a request in a task with a trace state and baggage.
  @discardableResult
  private func send(_ client: APIClient, _ note: GetNote = GetNote(), baggage: Baggage = ["tenant": "blue"])
    async throws
    -> Data
  {
    let parent = TraceContext(
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: ["rojo=1"])
    return try await TraceContext.$current.withValue(parent) {
      try await Baggage.$current.withValue(baggage) { try await client.send(note) }
    }
  }

  @Test func `baggage stays at the first origin`() async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture { _ in .redirect(to: "\(other.url)/notes/8") }
    try await send(fixture.client)
    #expect(fixture.server.requests.map(fields) == [Self.names])
    #expect(other.requests.map(fields) == [["traceparent"]])
  }

  @Test func `redirect back to the first origin has baggage`() async throws {
    let place = Place()
    let other = try LoopbackServer { _ in .redirect(to: place.url) }
    let fixture = try TelemetryFixture { request in
      request.path == "/notes/7" ? .redirect(to: "\(other.url)/notes/8") : .ok("x")
    }
    place.set("\(fixture.server.url)/notes/9")
    try await send(fixture.client)
    #expect(fixture.server.requests.map(fields) == [Self.names, Self.names])
    #expect(other.requests.map(fields) == [["traceparent"]])
  }

  @Test func `stored redirect does not make another origin the first`() async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture(
      { _ in .redirect(to: "\(other.url)/notes/8", status: 301).setting("Cache-Control", to: "max-age=60") },
      client: { $0.cache.policy = .http })
    try await send(fixture.client)
    try await send(fixture.client)
    #expect(fixture.server.requests.count == 1)
    #expect(other.requests.map(fields) == [["traceparent"], ["traceparent"]])
  }

  @Test func `own baggage stays at the first origin`() async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture { _ in .redirect(to: "\(other.url)/notes/8") }
    _ = try await fixture.client.send(GetNote(headers: Self.own))
    #expect(fixture.server.requests.map(fields) == [Self.names])
    #expect(other.requests.map(fields) == [["traceparent"]])
  }

  @Test func `other origin receives baggage if the app allows it`() async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture({ _ in .redirect(to: "\(other.url)/notes/8") }) { telemetry in
      telemetry.sharesBaggageWith = .everywhere
    }
    try await send(fixture.client)
    #expect(fixture.server.requests.map(fields) == [Self.names])
    #expect(other.requests.map(fields) == [Self.names])
  }

  @Test func `no server receives baggage if the app forbids it`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.sharesBaggageWith = .nowhere })
    try await send(fixture.client)
    #expect(fixture.server.requests.map(fields) == [["traceparent"]])
  }

  @Test func `fallback server is the first origin, too`() async throws {
    let fallback = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture(client: { $0.servers.current.fallbackURLs = [fallback.url] })
    fixture.server.stop()
    try await send(fixture.client)
    #expect(fallback.requests.map(fields) == [Self.names])
  }

  @Test(arguments: [true, false])
  func `own fields stay at allowed servers`(exports: Bool) async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture({ _ in .redirect(to: "\(other.url)/notes/8") }) { telemetry in
      if !exports { (telemetry.spans, telemetry.metrics) = (nil, nil) }
    }
    fixture.client.configure { configuration in
      configuration.telemetry?.propagatesTo = (try? Propagation.only(fixture.server.url)) ?? .everywhere
    }
    _ = try await fixture.client.send(GetNote(headers: Self.own))
    #expect(fixture.server.requests.map(fields) == [Self.names])
    #expect(other.requests.map(fields) == [[]])
  }

  // MARK: - Shared exchanges

  private struct Held {
    let gate = Gate()
    let fixture: TelemetryFixture

    init(telemetry change: (inout Telemetry) -> Void = { _ in }) throws {
      fixture = try TelemetryFixture({ [gate] _ in LoopbackAnswer.ok("x").held(at: gate) }, telemetry: change)
    }
  }

  @Test func `calls with different baggage send their own requests`() async throws {
    let held = try Held()
    async let first = send(held.fixture.client, baggage: ["tenant": "blue"])
    try await held.fixture.server.request(number: 1)
    async let second = send(held.fixture.client, baggage: ["tenant": "red"])
    #expect(await held.fixture.hasWaitingCalls(2))
    held.gate.open()
    _ = try await (first, second)
    #expect(held.fixture.server.requests.map { $0.headers["baggage"] } == ["tenant=blue", "tenant=red"])
    #expect(held.fixture.collected.calls.allSatisfy { $0.attributes["errand.call.joined"] == nil })
  }

  @Test func `calls with equal baggage share an exchange`() async throws {
    let held = try Held()
    async let first = send(held.fixture.client)
    try await held.fixture.server.request(number: 1)
    async let second = send(held.fixture.client)
    #expect(await held.fixture.hasWaitingCalls(2))
    held.gate.open()
    _ = try await (first, second)
    #expect(held.fixture.server.requests.count == 1)
  }

  @Test func `baggage that no server receives separates no calls`() async throws {
    let held = try Held { $0.propagatesTo = .nowhere }
    async let first = send(held.fixture.client, baggage: ["tenant": "blue"])
    try await held.fixture.server.request(number: 1)
    async let second = send(held.fixture.client, baggage: ["tenant": "red"])
    #expect(await held.fixture.hasWaitingCalls(2))
    held.gate.open()
    _ = try await (first, second)
    #expect(held.fixture.server.requests.map { $0.headers["baggage"] } == [nil])
  }
}

extension TelemetryFixture {
  /// Waits until a number of calls wait for exchanges, which they may share. A call that is only running may not have
  /// joined an exchange yet.
  func hasWaitingCalls(_ count: Int) async -> Bool {
    await until { client.services.joining.counts.waiting == count }
  }
}

/// A URL that is known after the server that redirects to it.
private final class Place: Sendable {
  private let text = Locked("")

  var url: String { text.withLock { $0 } }

  func set(_ url: String) { text.withLock { $0 = url } }
}
