import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// The end of an outbox, and what its receipts and observers do then.
struct OutboxClosingTests {
  /// The result of a function; nil if it does not return within two minutes.
  private static func result<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws -> Value? {
    let result = Locked<Value?>(nil)
    let task = Task {
      let value = await body()
      result.withLock { $0 = value }
    }
    defer { task.cancel() }
    _ = try await until { result.withLock { $0 != nil } }
    return result.withLock { $0 }
  }

  @Test func `close returns although results cannot be saved`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      switch request.path {
      case "/notes/1" where request.number <= 2: LoopbackAnswer.status(204).held(at: gate)
      case "/notes/2" where request.number <= 2: .stall()
      default: .status(204)
      }
    }
    let first = try fixture.open()
    let one = try await first.add(Rename(note: "1", title: "x")).id
    let two = try await first.add(Rename(note: "2", title: "y")).id
    try await fixture.server.request(number: 2)
    // As if the disk were full: nothing can be written.
    try await first.runner.perform { _ = try $0.store.database.run("PRAGMA query_only=1") }
    gate.open()
    #expect(try await until { try await first.runner.perform { !$0.unsaved.isEmpty } })
    try #require(try await Self.result { await first.close() } != nil)

    let second = try fixture.open()
    #expect(try await fixture.advance(second, until: one))
    #expect(try await fixture.advance(second, until: two))
    #expect(Set(fixture.keys).count == 2)
    await second.close()
  }

  @Test func `receipt of a closed outbox has an outcome`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Rename(title: "x"))
    await outbox.close()
    #expect(try await Self.result { await receipt.outcome.state } == .queued)
  }

  @Test func `sequences of a closed outbox end`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    await outbox.close()
    #expect(try await Self.result { for await _ in outbox.changes {} } != nil)
    #expect(try await Self.result { for await _ in outbox.summaries {} } != nil)
  }

  @Test func `receipt keeps the outbox open`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    let receipt = try await fixture.open().add(Rename(title: "x"))
    gate.open()
    #expect(try await Self.result { await receipt.outcome.state } == .delivered)
  }

  @Test func `states outlive their receipt`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    let states = try await fixture.open().add(Rename(title: "x")).states
    gate.open()
    let last = try await Self.result {
      var last = OutboxState.queued
      for await state in states { last = state }
      return last
    }
    #expect(last == .delivered)
  }

  @Test func `abandoned states release the outbox`() async throws {
    let fixture = try OutboxFixture()
    let runner: OutboxRunner
    do {
      let outbox = try fixture.open()
      outbox.pause()
      runner = outbox.runner
      _ = try await outbox.add(Rename(title: "x")).states
    }
    #expect(try await until { (try? await runner.perform { _ in }) == nil })
  }
}
