import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTelemetry

struct TracingTests {
  @Test func `call and attempt have spans`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.clock = { 1_800_000_000_000_000_000 } })
    _ = try await fixture.client.send(GetNote())
    let call = try #require(fixture.collected.calls.first)
    let attempt = try #require(fixture.collected.attempts.first)
    #expect(fixture.collected.spans == [attempt, call])
    #expect(call.name == "GetNote")
    #expect(call.parent == nil)
    #expect(attempt.name == "GET /notes/{noteID}")
    #expect(attempt.parent == call.context.spanID)
    #expect(attempt.context.traceID == call.context.traceID)
    #expect(call.start == 1_800_000_000_000_000_000)
    #expect(call.start <= attempt.start && attempt.start <= attempt.end && attempt.end <= call.end)
    #expect(
      attempt.attributes == [
        "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": .int(Int64(fixture.server.port)),
        "url.full": .string("\(fixture.server.url)/notes/7"), "url.template": "/notes/{noteID}",
        "http.response.status_code": 200, "network.protocol.version": "1.1", "network.peer.address": "127.0.0.1",
        "network.peer.port": .int(Int64(fixture.server.port)),
      ])
    #expect(attempt.status == .unset)
    #expect(fixture.received == [attempt.context])
  }

  @Test func `no span ends before its start`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.clock = { .max } })
    _ = try await fixture.client.send(GetNote())
    #expect(fixture.collected.spans.map(\.start) == [.max, .max])
    #expect(fixture.collected.spans.map(\.end) == [.max, .max])
  }

  @Test func `each attempt is a child of its own`() async throws {
    let fixture = try TelemetryFixture(client: {
      $0.retries = RetryPolicy(attempts: 3, firstDelay: .zero, busyDelay: .zero)
    })
    fixture.server.enqueue(.status(503), .status(502), .ok("x"))
    _ = try await fixture.client.send(GetNote())
    let attempts = fixture.collected.attempts
    #expect(fixture.received == attempts.map(\.context))
    #expect(Set(attempts.map(\.context.spanID)).count == 3)
    #expect(Set(attempts.map(\.parent)) == [fixture.collected.calls.first?.context.spanID])
    #expect(attempts.map { $0.attributes["http.request.resend_count"] } == [nil, 1, 2])
    #expect(attempts.map { $0.attributes["error.type"] } == ["503", "502", nil])
    #expect(attempts.map(\.status) == [.error, .error, .unset])
    #expect(fixture.collected.calls.map(\.status) == [.unset])
    #expect(fixture.collected.calls.first?.attributes["errand.call.attempts"] == 3)
  }

  @Test func `redirect is another attempt`() async throws {
    let fixture = try TelemetryFixture { request in
      request.path == "/notes/7" ? .redirect(to: "/notes/8") : .ok("x")
    }
    _ = try await fixture.client.send(GetNote())
    let attempts = fixture.collected.attempts
    #expect(attempts.map { $0.attributes["http.response.status_code"] } == [302, 200])
    #expect(attempts.map { $0.attributes["http.request.resend_count"] } == [nil, 1])
    #expect(attempts.last?.attributes["url.full"]?.text?.hasSuffix("/notes/8") == true)
  }

  @Test func `context of the task is the parent`() async throws {
    let fixture = try TelemetryFixture()
    let parent = try #require(
      TraceContext(
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: ["rojo=1,congo=2"]))
    _ = try await TraceContext.$current.withValue(parent) {
      try await Baggage.$current.withValue(["tenant": "blue"]) { try await fixture.client.send(GetNote()) }
    }
    let request = try await fixture.server.request(number: 1)
    #expect(request.headers["traceparent"]?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true)
    #expect(request.headers["tracestate"] == "rojo=1,congo=2")
    #expect(request.headers["baggage"] == "tenant=blue")
    #expect(fixture.collected.calls.first?.parent == parent.spanID)
  }

  @Test func `started call has the parent of its task`() async throws {
    let fixture = try TelemetryFixture()
    let parent = TraceContext.root()
    await withCheckedContinuation { continuation in
      _ = TraceContext.$current.withValue(parent) {
        fixture.client.start(outcomeOf: GetNote(), on: .inPlace) { _ in continuation.resume() }
      }
    }
    #expect(fixture.collected.calls.map(\.parent) == [parent.spanID])
    #expect(fixture.received.first??.traceID == parent.traceID)
  }

  @Test func `fields of the request are kept`() async throws {
    let fixture = try TelemetryFixture()
    let own = "00-11111111111111111111111111111111-2222222222222222-00"
    _ = try await TraceContext.$current.withValue(
      TraceContext(traceparent: own.replacing("1111", with: "3333"), tracestate: ["a=1"])
    ) {
      try await Baggage.$current.withValue(["a": "1"]) {
        try await fixture.client.send(GetNote(headers: ["Traceparent": "\(own)", "Baggage": "own=1"]))
      }
    }
    let request = try await fixture.server.request(number: 1)
    #expect(request.headers.values("traceparent") == [own])
    #expect(request.headers.values("baggage") == ["own=1"])
    #expect(request.headers["tracestate"] == nil)
  }

  @Test func `other origins receive no fields`() async throws {
    let other = try LoopbackServer { _ in .ok("x") }
    let fixture = try TelemetryFixture { _ in .redirect(to: "\(other.url)/notes/8") }
    fixture.client.configure { configuration in
      configuration.telemetry?.propagatesTo = (try? Propagation.only(fixture.server.url)) ?? .everywhere
    }
    _ = try await Baggage.$current.withValue(["a": "1"]) { try await fixture.client.send(GetNote()) }
    #expect(try await fixture.server.request(number: 1).headers["traceparent"] != nil)
    let request = try await other.request(number: 1)
    #expect(["traceparent", "tracestate", "baggage"].allSatisfy { request.headers[$0] == nil })
    #expect(fixture.collected.attempts.count == 2)
  }

  @Test func `call that is not sampled sends its decision`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.sampler = .never })
    _ = try await fixture.client.send(GetNote())
    #expect(fixture.collected.spans.isEmpty)
    #expect(fixture.received.first??.isSampled == false)
    #expect(fixture.collected.values(of: .requestDuration).count == 1)
  }

  @Test func `without exporter only the context is passed on`() async throws {
    let fixture = try TelemetryFixture(telemetry: { ($0.spans, $0.metrics) = (nil, nil) })
    _ = try await fixture.client.send(GetNote())
    let parent = TraceContext.root(isSampled: false)
    _ = try await TraceContext.$current.withValue(parent) { try await fixture.client.send(GetNote(id: 8)) }
    _ = try await Baggage.$current.withValue(["a": "1"]) { try await fixture.client.send(GetNote(id: 9)) }
    #expect(fixture.received == [nil, parent, nil])
    #expect(fixture.server.requests.map { $0.headers["baggage"] } == [nil, nil, "a=1"])
  }

  @Test func `metrics alone make no span`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.spans = nil })
    let parent = TraceContext.root()
    _ = try await TraceContext.$current.withValue(parent) { try await fixture.client.send(GetNote()) }
    #expect(fixture.received == [parent])
    #expect(fixture.collected.values(of: .requestDuration).count == 1)
  }

  @Test func `client without telemetry sends no context`() async throws {
    let fixture = try TelemetryFixture(client: { $0.telemetry = nil })
    _ = try await TraceContext.$current.withValue(.root()) { try await fixture.client.send(GetNote()) }
    #expect(fixture.received == [nil])
    #expect(fixture.collected.spans.isEmpty)
    #expect(fixture.client.configuration.telemetry == nil)
  }

  @Test func `failure has a stable type`() async throws {
    let fixture = try TelemetryFixture()
    fixture.server.stop()
    await #expect(throws: APIError.self) { _ = try await fixture.client.send(GetNote()) }
    let attempt = try #require(fixture.collected.attempts.first)
    #expect(attempt.attributes["error.type"] == "refused")
    #expect(attempt.attributes["http.response.status_code"] == nil)
    #expect(attempt.attributes["network.peer.address"] == nil && attempt.attributes["network.peer.port"] == nil)
    #expect(attempt.status == .error)
    #expect(fixture.collected.calls.first?.attributes["error.type"] == "refused")
  }

  @Test func `response that breaks off has a status`() async throws {
    let fixture = try TelemetryFixture { _ in .ok("hello").cut(after: 2) }
    await #expect(throws: APIError.self) { _ = try await fixture.client.send(GetNote()) }
    let attempt = try #require(fixture.collected.attempts.first)
    #expect(attempt.attributes["http.response.status_code"] == 200)
    #expect(attempt.attributes["error.type"] == "truncated" && attempt.status == .error)
    let durations = fixture.collected.values(of: .requestDuration)
    #expect(durations.first?.attributes["http.response.status_code"] == 200)
  }

  @Test func `rejected status is the type of both spans`() async throws {
    let fixture = try TelemetryFixture { _ in .status(404) }
    await #expect(throws: APIError.self) { _ = try await fixture.client.send(GetNote()) }
    #expect(fixture.collected.spans.map { $0.attributes["error.type"] } == ["404", "404"])
    #expect(fixture.collected.spans.map(\.status) == [.error, .error])
  }

  @Test func `cancelled call is no error`() async throws {
    let gate = Gate()
    let fixture = try TelemetryFixture { _ in LoopbackAnswer([.wait(gate)]) }
    let task = Task { try await fixture.client.send(GetNote()) }
    try await fixture.server.request(number: 1)
    task.cancel()
    await #expect(throws: APIError.self) { _ = try await task.value }
    // The exchange may end after the call, because calls can share it.
    #expect(await until { fixture.collected.spans.count == 2 })
    #expect(fixture.collected.spans.allSatisfy { $0.status == .unset && $0.attributes["error.type"] == nil })
  }

  @Test func `call from the cache has no attempt`() async throws {
    let fixture = try TelemetryFixture(client: { $0.cache.policy = .lifetime(.seconds(60)) })
    _ = try await fixture.client.send(GetNote())
    _ = try await fixture.client.send(GetNote())
    #expect(fixture.collected.attempts.count == 1)
    #expect(fixture.collected.calls.map { $0.attributes["errand.response.origin"] } == ["network", "cache-fresh"])
  }

  @Test func `calls that share an exchange have one attempt`() async throws {
    let gate = Gate()
    let fixture = try TelemetryFixture { _ in LoopbackAnswer([.wait(gate)] + LoopbackAnswer.ok("x").steps) }
    async let first = fixture.client.send(GetNote())
    try await fixture.server.request(number: 1)
    async let second = fixture.client.send(GetNote())
    #expect(await fixture.hasWaitingCalls(2))
    gate.open()
    _ = try await (first, second)
    #expect(fixture.collected.attempts.count == 1)
    #expect(fixture.collected.calls.count == 2)
    #expect(fixture.collected.calls.contains { $0.attributes["errand.call.joined"] == true })
  }

  @Test func `call that cannot be built has only its span`() async throws {
    let fixture = try TelemetryFixture()
    await #expect(throws: APIError.self) {
      _ = try await fixture.client.get("http://[", as: Data.self)
    }
    #expect(fixture.collected.spans.map(\.kind) == [.internal])
    #expect(fixture.collected.calls.first?.attributes["error.type"] == "invalidURL")
  }

  @Test func `attempts are measured`() async throws {
    let fixture = try TelemetryFixture { $0.path == "/notes/7" ? .ok("x") : .status(500) }
    _ = try await fixture.client.send(GetNote())
    _ = try? await fixture.client.send(GetNote(id: 8))
    let base: Attributes = [
      "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": .int(Int64(fixture.server.port)),
    ]
    let active = base.merging(["url.template": "/notes/{noteID}"]) { $1 }
    let ends: [Attributes] = [
      ["http.response.status_code": 200, "network.protocol.version": "1.1"],
      ["http.response.status_code": 500, "error.type": "500", "network.protocol.version": "1.1"],
    ]
    let durations = fixture.collected.values(of: .requestDuration)
    #expect(durations.map(\.attributes) == ends.map { active.merging($0) { $1 } })
    #expect(durations.allSatisfy { (0...30).contains($0.value) })
    let counts = fixture.collected.values(of: .activeRequests)
    #expect(counts.map(\.value) == [1, -1, 1, -1])
    #expect(counts.allSatisfy { $0.attributes == active })
    #expect(fixture.collected.values(of: .connectionWait).map(\.attributes) == [base, base])
  }
}
