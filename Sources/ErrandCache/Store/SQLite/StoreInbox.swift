import ErrandCore

/// A job for the store's thread. The job receives nil if the thread no longer exists.
typealias StoreJob = @Sendable (StoreWorker?) -> Void

/// The state that the store's thread shares with other threads: pending jobs and writes. The methods change only this
/// value, and return what the caller must do, such as waking the thread.
struct StoreInbox: Sendable {
  /// The action that the caller of a method must perform after the caller has released the lock.
  enum Duty: Sendable {
    case nothing, startThread, wake
    /// The store has ended without a thread, so no thread will report its end.
    case reportEnd
  }

  /// The next action of the store's thread.
  enum Next: Sendable {
    case read([StoreJob])
    case write([PendingWrites.Numbered])
    case sleep(until: MonotonicInstant?)
    case end
  }

  /// The phase of the store's thread. While the thread is asleep, a new job must wake it.
  private enum Phase: Sendable { case unstarted, awake, asleep, ended }

  var writes: PendingWrites
  /// The state of removals that failed and will be tried again later, or that were requested after the end.
  var failedRemovalState = RemovalState.done
  private var reads: [StoreJob] = []
  private var phase = Phase.unstarted
  private(set) var isClosing = false

  init(backlog: Int) { writes = PendingWrites(limit: backlog) }

  /// The state of all removals that callers requested from the store.
  var removalState: RemovalState { max(failedRemovalState, writes.removalState) }
  var hasReads: Bool { !reads.isEmpty }
  var hasEnded: Bool { phase == .ended }

  /// Adds a job that only reads. The job runs before all writes. If the store's thread has ended, the job is returned.
  mutating func read(_ job: @escaping StoreJob) -> (Duty, StoreJob?) {
    guard phase != .ended else { return (.nothing, job) }
    reads.append(job)
    return (duty(), nil)
  }

  /// Adds writes. Has no effect if the store's thread has ended.
  mutating func write(_ body: (inout PendingWrites) -> Void) -> Duty {
    guard phase != .ended else { return .nothing }
    body(&writes)
    return duty()
  }

  /// Adds a removal. If the store's thread has ended, no thread carries out the removal, so its state stays
  /// ``RemovalState/pending``.
  mutating func remove(_ selection: CacheSelection) -> Duty {
    if phase == .ended { failedRemovalState = .pending }
    return write { $0.remove(selection) }
  }

  /// Adds a job that runs after all earlier writes. If the store's thread has ended, the job is returned.
  mutating func barrier(_ job: @escaping StoreJob) -> (Duty, StoreJob?) {
    guard phase != .ended else { return (.nothing, job) }
    writes.barrier(job)
    return (duty(), nil)
  }

  /// Asks the store's thread to end after all pending writes. A store without a thread ends at once.
  mutating func close() -> Duty {
    isClosing = true
    guard phase == .unstarted else { return duty() }
    phase = .ended
    return .reportEnd
  }

  private mutating func duty() -> Duty {
    switch phase {
    case .unstarted:
      phase = .awake
      return .startThread
    case .asleep:
      phase = .awake
      return .wake
    case .awake, .ended: return .nothing
    }
  }

  /// Records that the store's thread could not be started. Removes and returns the jobs that wait for a result. Writes
  /// stay in the queue.
  mutating func startFailed() -> [StoreJob] {
    phase = isClosing ? .ended : .unstarted
    return takeReads() + writes.takeBarriers()
  }

  // MARK: - The thread's side

  mutating func takeReads() -> [StoreJob] {
    defer { reads = [] }
    return reads
  }

  /// Decides the next action of the store's thread. The thread can end only when it has carried out or given up all
  /// writes.
  /// - Parameters:
  ///   - retry: The time at which a failed batch of writes is tried again; nil if no batch has failed. No other write
  ///     starts before this time.
  ///   - frames: The maximum number of pages that one transaction may write.
  mutating func next(now: MonotonicInstant, retry: MonotonicInstant?, frames: Int) -> Next {
    phase = .awake
    if !reads.isEmpty { return .read(takeReads()) }
    if let retry {
      if retry <= now { return .write([]) }
      phase = .asleep
      return .sleep(until: retry)
    }
    let batch = writes.take(most: 64, frames: frames)
    if !batch.isEmpty { return .write(batch) }
    if isClosing {
      phase = .ended
      return .end
    }
    phase = .asleep
    return .sleep(until: nil)
  }
}
