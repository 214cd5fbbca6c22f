import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// A clock of the device that was wrong and is corrected.
struct OutboxClockTests {
  private static let year: Int64 = 365 * 86_400_000

  private static func fixture(
    _ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .status(204) }
  ) throws -> OutboxFixture {
    let fixture = try OutboxFixture(handler)
    fixture.jump.withLock { $0 = year }
    return fixture
  }

  /// How far a time is ahead of the right clock, in milliseconds.
  private static func ahead(_ fixture: OutboxFixture, _ time: Int64?) -> Int64 {
    (time ?? 0) - 1_800_000_000_000 - fixture.clock.now.nanoseconds / 1_000_000
  }

  /// How far the clock of the outbox is ahead when an entry is added.
  private static func ahead(_ fixture: OutboxFixture, _ outbox: Outbox) async throws -> Int64 {
    let id = try await outbox.add(Rename(note: "other", title: "x")).id
    return ahead(fixture, try await outbox.entry(id)?.added.milliseconds)
  }

  @Test func `corrected clock counts for later entries`() async throws {
    let fixture = try Self.fixture()
    let outbox = try fixture.open()
    #expect(try await outbox.add(Rename(title: "x")).outcome.isDelivered)
    fixture.jump.withLock { $0 = 0 }
    let brief = try await outbox.add(Brief(number: 1))
    #expect(try await Self.ahead(fixture, outbox.entry(brief.id)?.added.milliseconds) == 0)
    #expect(await brief.outcome.isDelivered)
    #expect(try await Self.ahead(fixture, outbox) == 0)
    await outbox.close()
  }

  @Test func `waiting entry keeps the clock`() async throws {
    let fixture = try Self.fixture()
    let outbox = try fixture.open()
    outbox.pause()
    let first = try await outbox.add(Rename(title: "x"))
    fixture.jump.withLock { $0 = 0 }
    #expect(try await Self.ahead(fixture, outbox) == Self.year)
    outbox.resume()
    #expect(await first.outcome.isDelivered)
    #expect(try await until { try await outbox.summary.waiting == 0 })
    #expect(try await Self.ahead(fixture, outbox) == 0)
    await outbox.close()
  }

  /// The device starts in the past and learns the time from the network. Its clock was right before, or 2 s fast.
  @Test(arguments: [0, 2_000] as [Int64]) func `late correction expires no entry`(behind: Int64) async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    let first = try fixture.open()
    first.pause()
    let id = try await first.add(Rename(title: "x")).id
    await first.close()
    try await fixture.accounts.logout()
    fixture.jump.withLock { $0 = -50 * Self.year }
    let second = try fixture.open()
    #expect(try await Self.ahead(fixture, second) == 0)
    fixture.jump.withLock { $0 = -behind }
    #expect(try await Self.ahead(fixture, second) == 0)
    try await second.handleEvents()
    #expect(try await second.entry(id)?.state == .queued)
    await second.close()
  }

  @Test func `unknown fate keeps the clock`() async throws {
    let gate = Gate()
    let fixture = try Self.fixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    let outbox = try fixture.open()
    let first = try await outbox.add(Rename(title: "x")).id
    try await fixture.server.request(number: 1)
    #expect(try await outbox.cancel(first) == .unknown)
    outbox.pause()
    fixture.jump.withLock { $0 = 0 }
    let second = try await outbox.add(Rename(note: "other", title: "x")).id
    #expect(try await Self.ahead(fixture, outbox.entry(second)?.added.milliseconds) == Self.year)
    try await outbox.discard(second)
    gate.open()
    #expect(try await until { try await outbox.runner.perform { $0.running.isEmpty } })
    if try await outbox.entry(first)?.state == .unknown { try await outbox.discard(first) }
    #expect(try await Self.ahead(fixture, outbox) == 0)
    await outbox.close()
  }

  @Test func `rejected entry does not keep the clock`() async throws {
    let fixture = try Self.fixture { $0.path == "/brief/1" ? .status(403) : .status(204) }
    let outbox = try fixture.open()
    let first = try await outbox.add(Brief(number: 1))
    #expect(await first.outcome.state == .rejected)
    fixture.jump.withLock { $0 = 0 }
    #expect(try await Self.ahead(fixture, outbox) == 0)
    outbox.pause()
    try await outbox.resend(first.id)
    // It expires an hour after the resend, by the corrected clock.
    #expect(try await Self.ahead(fixture, outbox.entry(first.id)?.expires?.milliseconds) == 3_600_000)
    #expect(try await Self.ahead(fixture, outbox.entry(first.id)?.notBefore.milliseconds) == 0)
    await outbox.close()
  }

  @Test func `other process adopts the reset`() async throws {
    let fixture = try Self.fixture()
    let sender = try fixture.open { $0.pollInterval = .seconds(1) }
    #expect(try await sender.add(Rename(title: "x")).outcome.isDelivered)
    let other = try fixture.open()
    fixture.jump.withLock { $0 = 0 }
    // By the clock of before, the entry would have expired a year ago.
    let brief = try await other.add(Brief(number: 1)).id
    #expect(try await Self.ahead(fixture, other.entry(brief)?.added.milliseconds) == 0)
    #expect(try await fixture.advance(sender, until: brief))
    #expect(try await Self.ahead(fixture, sender) == 0)
    await other.close()
    await sender.close()
  }

  @Test func `failed transaction does not reset the clock`() async throws {
    let fixture = try Self.fixture()
    let outbox = try fixture.open()
    #expect(try await outbox.add(Rename(title: "x")).outcome.isDelivered)
    fixture.jump.withLock { $0 = 0 }
    let resets = try await outbox.runner.perform { runner in
      struct Failure: Error {}
      do { try runner.commit { _ in throw Failure() } } catch is Failure {}
      return try [runner.clock.resets, runner.store.clock().resets]
    }
    #expect(resets == [0, 0])
    await outbox.close()
  }

  @Test func `finished entries are removed after the reset`() async throws {
    let fixture = try Self.fixture()
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    #expect(try await first.reaches(id, .delivered))
    fixture.jump.withLock { $0 = 0 }
    #expect(try await first.add(Rename(title: "y")).outcome.isDelivered)
    await first.close()
    fixture.clock.advance(by: .seconds(2 * 86_400))
    let second = try fixture.open()
    #expect(try await until { try await second.entry(id) == nil })
    await second.close()
  }
}
