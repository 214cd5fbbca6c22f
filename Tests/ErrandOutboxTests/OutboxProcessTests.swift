import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Several processes with one folder, of which one changes what another one is about to change.
struct OutboxProcessTests {
  private static let rejection = SendVerdict.rejected(OutboxReason(.status, "Status 400.", status: 400))

  @Test(arguments: [[EntryEvent.attempt], [.attempt, .attempted(rejection, chance: 0), .resend, .attempt]])
  func `entry that is being sent is not discarded`(events: [EntryEvent]) async throws {
    let fixture = try OutboxFixture()
    let sender = Sender(store: try OutboxStore(OutboxFolder(fixture.folder)))
    let step = Locked<(@Sendable () -> Void)?>(nil)
    let outbox = try fixture.open {
      let clock = $0.clock
      // The outbox reads the clock between its steps.
      $0.clock = {
        step.withLock { step in
          defer { step = nil }
          return step
        }?()
        return clock()
      }
    }
    outbox.pause()
    let id = try await outbox.add(Rename(title: "x")).id
    try await outbox.handleEvents()
    let now = try await outbox.runner.perform { $0.now() }
    // The last events happen while the app discards the entry.
    let early = max(0, events.count - 2)
    sender.apply(events.prefix(early), to: id, now)
    step.withLock { $0 = { sender.apply(events.dropFirst(early), to: id, now) } }
    let error = await #expect(throws: OutboxError.self) { try await outbox.discard(id) }
    #expect(error?.code == .state)
    #expect(try await outbox.entry(id)?.state == .sending)
    await outbox.close()
  }

  /// A process that sends.
  private struct Sender: @unchecked Sendable {  // another thread uses the store while this one waits
    let store: OutboxStore

    func apply(_ events: ArraySlice<EntryEvent>, to id: OutboxEntry.ID, _ now: WallTime) {
      #expect(throws: Never.self) {
        try store.transaction { for event in events { _ = try store.apply(event, to: id.rawValue, now) } }
      }
    }
  }

  @Test func `new folder is opened by many at once`() async throws {
    for _ in 1...20 {
      let folder = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let errors = Locked<[OutboxError]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        do throws(OutboxError) { _ = try OutboxStore(OutboxFolder(folder)) } catch {
          errors.withLock { $0.append(error) }
        }
      }
      #expect(errors.withLock { $0 } == [])
    }
  }

  @Test func `receipt of a removed entry ends`() async throws {
    let fixture = try OutboxFixture()
    let sender = try fixture.open()
    try await sender.handleEvents()  // so that this outbox has the right to send
    let other = try fixture.open()
    try await other.handleEvents()
    let receipt = try await other.add(Rename(title: "x"))
    try await other.handleEvents()
    let outcome = Locked<OutboxOutcome<Nothing>?>(nil)
    let wait = Task {
      let end = await receipt.outcome
      outcome.withLock { $0 = end }
    }
    defer { wait.cancel() }
    sender.wake()
    #expect(try await sender.reaches(receipt.id, .delivered))
    try await sender.runner.perform { runner in
      try runner.store.transaction { try runner.store.purge(before: WallTime(milliseconds: .max)) }
    }
    other.wake()
    #expect(try await until { outcome.withLock { $0 } != nil })
    #expect(outcome.withLock { $0 }?.state == .queued)
    await other.close()
    await sender.close()
  }
}
