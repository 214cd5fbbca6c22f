import ErrandCore
import ErrandSupport
import StoreSamples
import Testing

@testable import ErrandCache

/// The decisions about the next step of a store's thread.
struct StoreInboxTests {
  private let now = MonotonicInstant(nanoseconds: 1_000)
  private let later = MonotonicInstant(nanoseconds: 2_000)

  private static func isBarrier(_ write: PendingWrites.Numbered) -> Bool {
    if case .barrier = write.write { true } else { false }
  }

  private func words(_ next: StoreInbox.Next) -> String {
    switch next {
    case .read(let jobs): "read \(jobs.count)"
    case .write(let batch): batch.contains(where: Self.isBarrier) ? "barrier" : "write \(batch.count)"
    case .sleep(let until): until == nil ? "sleep" : "sleep until retry"
    case .end: "end"
    }
  }

  private func next(_ inbox: inout StoreInbox, now: MonotonicInstant? = nil, retry: MonotonicInstant? = nil) -> String {
    words(inbox.next(now: now ?? self.now, retry: retry, frames: 1_000))
  }

  /// An inbox whose thread has taken one write. Another write and a barrier are queued.
  private func busy() -> StoreInbox {
    var inbox = StoreInbox(backlog: 1 << 20)
    _ = inbox.write { $0.put(Sample.entry("/a")) }
    #expect(next(&inbox) == "write 1")
    _ = inbox.write { $0.remove(.tag("x")) }
    _ = inbox.barrier { _ in }
    return inbox
  }

  @Test func `failed batch precedes other writes`() {
    var inbox = busy()
    #expect(next(&inbox, retry: later) == "sleep until retry")
    #expect(next(&inbox, now: later, retry: later) == "write 0")
    #expect(next(&inbox) == "write 1")
  }

  @Test func `closing writes everything pending`() {
    var inbox = busy()
    _ = inbox.close()
    #expect(next(&inbox, retry: later) == "sleep until retry", "the failed batch is still pending")
    #expect(next(&inbox, now: later, retry: later) == "write 0")
    for word in ["write 1", "barrier", "end"] { #expect(next(&inbox) == word) }
    #expect(inbox.writes.isEmpty && inbox.hasEnded)
  }

  @Test func `only the thread reports its end`() {
    var inbox = busy()
    for word in ["write 1", "barrier", "sleep"] { #expect(next(&inbox) == word) }
    guard case .wake = inbox.close() else {
      Issue.record("the thread was not woken")
      return
    }
    #expect(next(&inbox) == "end")
    // The thread still closes its files now.
    guard case .nothing = inbox.close() else {
      Issue.record("a second close reported the end of a thread")
      return
    }
    var unused = StoreInbox(backlog: 1 << 20)
    guard case .reportEnd = unused.close(), case .nothing = unused.close() else {
      Issue.record("the end of a store without a thread was not reported once")
      return
    }
  }

  @Test func `closed inbox returns jobs`() {
    var inbox = StoreInbox(backlog: 1 << 20)
    _ = inbox.close()
    #expect(inbox.read { _ in }.1 != nil && inbox.barrier { _ in }.1 != nil)
    #expect(inbox.removalState == .done)
    guard case .nothing = inbox.remove(.all) else {
      Issue.record("a thread was started after the end")
      return
    }
    #expect(inbox.writes.isEmpty && inbox.removalState == .pending)
  }

  @Test(arguments: [false, true]) func `failed thread start is retried`(_ closes: Bool) {
    var inbox = StoreInbox(backlog: 1 << 20)
    _ = inbox.read { _ in }
    _ = inbox.barrier { _ in }
    if closes { _ = inbox.close() }
    #expect(inbox.startFailed().count == 2)
    #expect(inbox.hasEnded == closes)
    let (duty, refused) = inbox.read { _ in }
    #expect((refused != nil) == closes)
    if case .startThread = duty { #expect(!closes) } else { #expect(closes) }
  }
}
