import Dispatch
import ErrandCore
import ErrandSupport

/// Passes jobs from callers to the thread of a store. Starts the thread at the first job.
final class StoreMailbox: Sendable {
  private let settings: StoreSettings
  private let inbox: Locked<StoreInbox>
  let uses = Locked(PendingUses())
  /// The cause of the failure of the last lookup that was done; nil if the index could be used.
  let outageCause = Locked<String?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)
  /// Is set as soon as the store's thread has ended.
  private let threadEnd = Promise<Void>()

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

  func remove(_ selection: CacheSelection) {
    perform(inbox.withLock { $0.remove(selection) })
  }

  func pending<Result: Sendable>(_ body: (PendingWrites) -> Result) -> Result {
    inbox.withLock { body($0.writes) }
  }

  /// Records that an entry was used now. Does not wake the store's thread, which writes the time to the index later.
  func recordUse(_ key: CacheKey, _ variant: Digest) {
    let place = PendingUses.Place(entry: key.entry.index, variant: variant.index)
    uses.withLock { $0.record(place, at: .now) }
  }

  /// The state of all removals that callers requested from the store.
  var removalState: RemovalState { inbox.withLock { $0.removalState } }

  /// Asks the store's thread to end after it has carried out all pending writes.
  func close() { perform(inbox.withLock { $0.close() }) }

  /// Waits until the store's thread has ended. Call ``close()`` first.
  func ended() async { await threadEnd.value() }

  private func perform(_ duty: StoreInbox.Duty) {
    switch duty {
    case .nothing: break
    case .wake: semaphore.signal()
    case .reportEnd: threadEnd.set(())
    case .startThread:
      let isStarted = DetachedThread.start(named: "errand.cache") { [self] in
        StoreWorker(settings, mailbox: self).run()
        threadEnd.set(())
      }
      if !isStarted { goWithoutThread() }
    }
  }

  private func goWithoutThread() {
    let (jobs, hasEnded) = inbox.withLock { ($0.startFailed(), $0.hasEnded) }
    for job in jobs { job(nil) }
    if hasEnded { threadEnd.set(()) }
  }

  // MARK: - The thread's side

  /// Whether a read is pending. If so, the store's thread stops waiting for another process that blocks a write.
  var hasReads: Bool { inbox.withLock { $0.hasReads } }

  /// Whether the store's thread should end as soon as possible.
  var isClosing: Bool { inbox.withLock { $0.isClosing } }

  func takeReads() -> [StoreJob] { inbox.withLock { $0.takeReads() } }

  /// Sets the state of the removals that failed, and records that the journal contains pending removals.
  func setRemovals(failed state: RemovalState, journaled: PendingWrites.Unwritten? = nil) {
    inbox.withLock { inbox in
      inbox.failedRemovalState = state
      if let journaled { inbox.writes.recordJournaled(journaled) }
    }
  }

  func finish(_ batch: [PendingWrites.Numbered]) {
    inbox.withLock { $0.writes.finish(batch) }
  }

  /// Waits until the store's thread has something to do, and returns its next action.
  func next(retry: MonotonicInstant?) -> StoreInbox.Next {
    while true {
      let next = inbox.withLock { $0.next(now: .now, retry: retry, frames: settings.framesPerTransaction) }
      guard case .sleep(let until) = next else { return next }
      if let until {
        _ = semaphore.wait(timeout: DispatchTime(uptimeNanoseconds: UInt64(clamping: until.nanoseconds)))
      } else {
        semaphore.wait()
      }
    }
  }
}

/// The times at which entries were last used that are not written to the index on disk yet.
struct PendingUses: Sendable {
  /// Identifies an entry by parts of its digests, so that the index need not be read.
  struct Place: Sendable, Hashable {
    let entry: Int64
    let variant: Int64
  }

  private static let most = 8_192
  private(set) var times: [Place: WallTime] = [:]

  /// Records that an entry was used. If a later use of the entry is already recorded, the later use is kept. If too
  /// many entries are recorded, the use of a further entry is ignored.
  mutating func record(_ place: Place, at time: WallTime) {
    if let known = times[place] {
      times[place] = max(known, time)
    } else if times.count < Self.most {
      times[place] = time
    }
  }

  /// Returns the recorded time of the last use of each entry, and deletes the records.
  mutating func take() -> [Place: WallTime] {
    defer { times = [:] }
    return times
  }
}
