import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTelemetry

/// The spans of batches and chains.
struct GroupTracingTests {
  private struct Reason: Error {}

  private func group(named name: String, _ fixture: TelemetryFixture) throws -> Span {
    try #require(fixture.collected.groups.first { $0.name == name })
  }

  @Test func `batch is the parent of its calls`() async throws {
    let fixture = try TelemetryFixture()
    _ = try await fixture.client.batch(GetNote(), GetNote(id: 8))
    let (group, calls) = (try group(named: "batch", fixture), fixture.collected.calls)
    #expect(fixture.collected.spans.last == group && fixture.collected.groups.count == 1)
    #expect(group.kind == .internal && group.parent == nil && group.status == .unset)
    #expect(group.attributes.keys.sorted() == ["errand.group.id", "errand.group.kind", "errand.group.members"])
    #expect(group.attributes["errand.group.kind"] == "batch")
    #expect(group.attributes["errand.group.members"] == 2)
    #expect(calls.map(\.parent) == [group.context.spanID, group.context.spanID])
    #expect(Set(fixture.received.map { $0?.traceID }) == [group.context.traceID])
    #expect(calls.allSatisfy { group.start <= $0.start && $0.end <= group.end })
  }

  @Test func `chain is the parent of its steps`() async throws {
    let fixture = try TelemetryFixture()
    let outer = TraceContext.root()
    let inside = try await TraceContext.$current.withValue(outer) {
      try await fixture.client.chain { chain in
        _ = try await chain.send(GetNote())
        async let branch = chain.send(GetNote(id: 8))
        _ = try await branch
        return TraceContext.current
      }
    }
    let group = try group(named: "chain", fixture)
    #expect(group.parent == outer.spanID && group.context.traceID == outer.traceID)
    #expect(group.attributes["errand.group.kind"] == "chain")
    #expect(inside == group.context)
    #expect(fixture.collected.calls.map(\.parent) == [group.context.spanID, group.context.spanID])
  }

  @Test func `nested group is a child of its group`() async throws {
    let fixture = try TelemetryFixture()
    _ = try await fixture.client.send(
      Chain("sign up") { chain in
        _ = try await chain.batch(GetNote(), GetNote(id: 8))
        return try await chain.chain { inner in try await inner.send(GetNote(id: 9)) }
      })
    let (outer, batch) = (try group(named: "sign up", fixture), try group(named: "batch", fixture))
    let chain = try group(named: "chain", fixture)
    #expect([batch.parent, chain.parent] == [outer.context.spanID, outer.context.spanID])
    #expect(outer.attributes["errand.group.members"] == 2)
    #expect(
      fixture.collected.calls.map(\.parent) == [batch.context.spanID, batch.context.spanID, chain.context.spanID])
  }

  @Test func `context inside a chain replaces the chain's`() async throws {
    let fixture = try TelemetryFixture()
    let own = TraceContext.root()
    try await fixture.client.chain { chain in
      _ = try await TraceContext.$current.withValue(own) {
        try await Baggage.$current.withValue(["step": "1"]) { try await chain.send(GetNote()) }
      }
      _ = try await chain.send(GetNote(id: 8))
    }
    let group = try group(named: "chain", fixture)
    #expect(fixture.collected.calls.map(\.parent) == [own.spanID, group.context.spanID])
    #expect(fixture.server.requests.map { $0.headers["baggage"] } == ["step=1", nil])
  }

  @Test func `failed member fails its group`() async throws {
    let fixture = try TelemetryFixture { $0.path == "/notes/8" ? .status(404) : .ok("x") }
    await #expect(throws: APIError.self) { _ = try await fixture.client.batch(GetNote(), GetNote(id: 8)) }
    let group = try group(named: "batch", fixture)
    #expect(group.status == .error && group.attributes["error.type"] == "404")
  }

  @Test func `batch of outcomes does not fail`() async throws {
    let fixture = try TelemetryFixture { _ in .status(404) }
    _ = await fixture.client.outcomes(of: [GetNote(), GetNote(id: 8)])
    #expect(try group(named: "batch", fixture).status == .unset)
    #expect(fixture.collected.calls.map(\.status) == [.error, .error])
  }

  @Test func `error of a step is a code`() async throws {
    let fixture = try TelemetryFixture()
    await #expect(throws: Reason.self) { try await fixture.client.chain { _ in throw Reason() } }
    let group = try group(named: "chain", fixture)
    #expect(group.status == .error && group.attributes["error.type"] == "step")
    #expect(group.attributes["errand.group.members"] == 0)
  }

  @Test func `cancelled group is no error`() async throws {
    let gate = Gate()
    let fixture = try TelemetryFixture { _ in LoopbackAnswer([.wait(gate)]) }
    let task = Task { try await fixture.client.batch(GetNote(), GetNote(id: 8)) }
    try await fixture.server.request(number: 2)
    task.cancel()
    await #expect(throws: APIError.self) { _ = try await task.value }
    let group = try group(named: "batch", fixture)
    #expect(group.status == .unset && group.attributes["error.type"] == nil)
    #expect(await until { fixture.collected.spans.count == 5 })
    #expect(fixture.collected.calls.map(\.parent) == [group.context.spanID, group.context.spanID])
  }

  @Test func `started group has the parent of its task`() async throws {
    let fixture = try TelemetryFixture()
    let parent = TraceContext.root()
    await withCheckedContinuation { continuation in
      _ = TraceContext.$current.withValue(parent) {
        fixture.client.start(outcomeOf: Batch([GetNote(), GetNote(id: 8)]), on: .inPlace) { _ in continuation.resume() }
      }
    }
    let group = try group(named: "batch", fixture)
    #expect(group.parent == parent.spanID)
    #expect(fixture.collected.calls.map(\.parent) == [group.context.spanID, group.context.spanID])
  }

  @Test func `group follows the decision of the sampler`() async throws {
    let fixture = try TelemetryFixture(telemetry: { $0.sampler = .parent(orElse: .never) })
    _ = try await fixture.client.batch(GetNote(), GetNote(id: 8))
    #expect(fixture.collected.spans.isEmpty)
    #expect(fixture.received.map { $0?.isSampled } == [false, false])
    #expect(Set(fixture.received.map { $0?.traceID }).count == 1)
  }

  @Test func `group without exporter passes the context on`() async throws {
    let fixture = try TelemetryFixture(telemetry: { ($0.spans, $0.metrics) = (nil, nil) })
    _ = try await fixture.client.batch(GetNote(), GetNote(id: 8))
    let parent = TraceContext.root()
    _ = try await TraceContext.$current.withValue(parent) { try await fixture.client.batch([GetNote(id: 9)]) }
    _ = try await TraceContext.$current.withValue(parent) {
      try await fixture.client.chain { chain in try await chain.send(GetNote(id: 10)) }
    }
    #expect(fixture.received == [nil, nil, parent, parent])
  }
}
