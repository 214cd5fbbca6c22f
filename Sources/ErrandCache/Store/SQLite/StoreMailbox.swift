import ErrandSupport
import Dispatch
import ErrandCore

/// Where jobs for the thread of a store are left. Starts the thread at the first one.
final class StoreMailbox: Sendable {
  private let settings: StoreSettings
  private let inbox: Locked<StoreInbox>
  /// What the thread is not woken for.
  let usesAbove = Locked(UsesAbove())
  private let bell = DispatchSemaphore(value: 0)
  private let ending = Locked(Ending())

  private struct Ending: Sendable {
    var isOver = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  init(_ settings: StoreSettings) {
    self.settings = settings
    inbox = Locked(StoreInbox(backlog: settings.backlogLimit))
  }

  func read(_ job: @escaping StoreJob) {
    let (duty, refused) = inbox.withLock { $0.read(job) }
    perform(duty)
    refused?(nil)
  }

  func barrier(_ job: @escaping StoreJob) {
    let (duty, refused) = inbox.withLock { $0.barrier(job) }
    perform(duty)
    refused?(nil)
  }

  func write(_ body: (inout PendingWrites) -> Void) {
    perform(inbox.withLock { $0.write(body) })
  }

  func pending<Result: Sendable>(_ body: (PendingWrites) -> Result) -> Result {
    inbox.withLock { body($0.writes) }
  }

  /// How far removals have come.
  var removalState: RemovalState { inbox.withLock { $0.removalState } }

  /// Lets the thread end when all is written.
  func close() {
    let duty = inbox.withLock { $0.close() }
    if case .nothing = duty, !hasThread { end() }
    perform(duty)
  }

  /// Returns when the thread has ended after ``close()``.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = ending.withLock { ending in
        if !ending.isOver { ending.waiters.append(continuation) }
        return ending.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  private func perform(_ duty: StoreInbox.Duty) {
    switch duty {
    case .nothing: break
    case .wake: bell.signal()
    case .startThread:
      let isStarted = DetachedThread.start(named: "errand.cache") { [self] in
        StoreWorker(settings, mailbox: self).run()
        end()
      }
      if !isStarted { goWithoutThread() }
    }
  }

  private func goWithoutThread() {
    let (jobs, hasEnded) = inbox.withLock { ($0.startFailed(), $0.hasEnded) }
    for job in jobs { job(nil) }
    if hasEnded { end() }
  }

  private var hasThread: Bool { inbox.withLock { $0.hasThread } }

  private func end() {
    let waiters = ending.withLock { ending in
      ending.isOver = true
      defer { ending.waiters = [] }
      return ending.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: - The thread's side

  /// Whether a read waits; asked while a write waits for another process.
  var hasReads: Bool { inbox.withLock { $0.hasReads } }

  /// Whether the thread ends as soon as it can.
  var isClosing: Bool { inbox.withLock { $0.isClosing } }

  func takeReads() -> [StoreJob] { inbox.withLock { $0.takeReads() } }

  /// Notes how far the removals have come that were given up for now, and which of those that wait are written down.
  func noteRemovals(owed: RemovalState, upTo number: UInt64 = 0) {
    inbox.withLock { inbox in
      inbox.owed = owed
      inbox.writes.note(upTo: number)
    }
  }

  func finish(_ batch: [PendingWrites.Numbered]) {
    inbox.withLock { $0.writes.finish(batch) }
  }

  /// Waits for something to do.
  func next(retry: MonotonicInstant?) -> StoreInbox.Next {
    while true {
      let next = inbox.withLock { $0.next(now: .now, retry: retry, frames: settings.framesPerTransaction) }
      guard case .sleep(let until) = next else { return next }
      if let until {
        _ = bell.wait(timeout: DispatchTime(uptimeNanoseconds: UInt64(clamping: until.nanoseconds)))
      } else {
        bell.wait()
      }
    }
  }
}
