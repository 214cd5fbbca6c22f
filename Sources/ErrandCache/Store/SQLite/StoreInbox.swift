import ErrandCore

/// A job for the store's thread; without a worker where there is no such thread any more.
typealias StoreJob = @Sendable (StoreWorker?) -> Void

/// All that the store's thread shares with others. Decides who has to wake it, and performs nothing.
struct StoreInbox: Sendable {
  /// What the one who changed the inbox has to do once the lock is released.
  enum Duty: Sendable { case nothing, startThread, wake }

  /// What the thread does next.
  enum Next: Sendable {
    case read([StoreJob])
    case write([PendingWrites.Numbered])
    case sleep(until: MonotonicInstant?)
    case end
  }

  private enum Phase: Sendable { case unstarted, running, ended }

  var writes: PendingWrites
  /// How far the removals have come that were given up for now.
  var owed = RemovalState.done
  private var reads: [StoreJob] = []
  private var phase = Phase.unstarted
  private(set) var isClosing = false
  private var isAsleep = false

  init(backlog: Int) { writes = PendingWrites(limit: backlog) }

  /// How far removals have come.
  var removalState: RemovalState { max(owed, writes.removalState) }
  var hasReads: Bool { !reads.isEmpty }
  var hasThread: Bool { phase == .running }
  var hasEnded: Bool { phase == .ended }

  /// Adds a job that reads; it is run before all writes. Given back where the thread has ended.
  mutating func read(_ job: @escaping StoreJob) -> (Duty, StoreJob?) {
    guard phase != .ended else { return (.nothing, job) }
    reads.append(job)
    return (duty(), nil)
  }

  /// Adds writes. Without effect where the thread has ended.
  mutating func write(_ body: (inout PendingWrites) -> Void) -> Duty {
    guard phase != .ended else { return .nothing }
    body(&writes)
    return duty()
  }

  /// Adds a job that runs when all writes before it are done. Given back where the thread has ended.
  mutating func barrier(_ job: @escaping StoreJob) -> (Duty, StoreJob?) {
    guard phase != .ended else { return (.nothing, job) }
    writes.barrier(job)
    return (duty(), nil)
  }

  mutating func close() -> Duty {
    isClosing = true
    guard phase == .running else {
      phase = .ended
      return .nothing
    }
    return duty()
  }

  private mutating func duty() -> Duty {
    switch phase {
    case .unstarted:
      phase = .running
      return .startThread
    case .running where isAsleep:
      isAsleep = false
      return .wake
    case .running, .ended: return .nothing
    }
  }

  /// Takes back that the thread was started. What waited for an answer is given back; writes wait on.
  mutating func startFailed() -> [StoreJob] {
    phase = isClosing ? .ended : .unstarted
    return takeReads() + writes.takeBarriers()
  }

  // MARK: - The thread's side

  mutating func takeReads() -> [StoreJob] {
    defer { reads = [] }
    return reads
  }

  /// Says what to do next. The end comes when all is written or given up.
  /// - Parameters:
  ///   - retry: When a batch that failed may be tried again; nil where none did. No other writes are begun before.
  ///   - frames: The pages one transaction may write.
  mutating func next(now: MonotonicInstant, retry: MonotonicInstant?, frames: Int) -> Next {
    isAsleep = false
    if !reads.isEmpty { return .read(takeReads()) }
    if let retry {
      if retry <= now { return .write([]) }
      isAsleep = true
      return .sleep(until: retry)
    }
    let batch = writes.take(most: 64, frames: frames)
    if !batch.isEmpty { return .write(batch) }
    if isClosing {
      phase = .ended
      return .end
    }
    isAsleep = true
    return .sleep(until: nil)
  }
}
