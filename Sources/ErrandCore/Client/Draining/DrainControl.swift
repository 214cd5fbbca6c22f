import ErrandSupport

/// The report of draining, for which every caller of ``APIClient/drain(within:)`` waits. The first report counts.
final class DrainControl: Sendable {
  private let reported = Promise<DrainReport>()
  /// Is set as soon as draining no longer waits for the background refreshes of the cache.
  private let passedRefreshes = Promise<Void>()
  private let hasCancelledRefreshes = Locked(false)

  /// The report, as soon as draining has ended.
  func report() async -> DrainReport { await reported.value() }

  var hasEnded: Bool { reported.isSet }

  /// Waits until no background refresh of the cache is in progress, or until ``passRefreshes()`` is called. Other
  /// clients may refresh responses of a shared cache without end.
  func refreshesEnded(in cache: any ClientCache) async {
    Task { @concurrent in
      await cache.refreshesEnded()
      passRefreshes()
    }
    await passedRefreshes.value()
  }

  /// Draining waits for background refreshes no longer.
  func passRefreshes() { passedRefreshes.set(()) }

  func recordCancelledRefreshes() { hasCancelledRefreshes.withLock { $0 = true } }

  func end(_ report: DrainReport) {
    var report = report
    report.hasCancelledRefreshes = hasCancelledRefreshes.withLock { $0 }
    reported.set(report)
  }
}

/// Takes the place of a client's own transport after draining, so that the client no longer keeps its connections open.
struct ReleasedTransport: Transport {
  let identity: String?

  func send(_ exchange: Exchange) async throws -> HTTPResponse { throw APIError.draining }
}

extension APIError {
  static var draining: APIError {
    APIError(
      .admission, .draining,
      "The client drains or has drained (`drain(within:)`), so the request was not sent; stop starting calls before "
        + "you drain the client, or make a new client.")
  }
}

/// The state machine of draining: decides which calls may start, and when the last call has ended.
///
/// | phase | own call | part of a running call | local work | pause | last call leaves | `begin` | `expire` |
/// |---|---|---|---|---|---|---|---|
/// | open | enters | enters | enters | is not counted | no change | draining, or idle without calls | – |
/// | draining | refused | enters | enters | refused | idle | no change | cancelling |
/// | cancelling | refused | refused | enters | refused | idle | no change | no change |
/// | idle | refused | refused | enters | refused | no change | no change | no change |
struct DrainMachine: Sendable, Hashable {
  enum Phase: Sendable, Hashable { case open, draining, cancelling, idle }

  /// What a call is for the client that drains.
  enum Role: Sendable, Hashable, CaseIterable {
    /// A call or a group that the app starts.
    case own
    /// A member of a running group, a call that code of the app sends for a running call, or the refresh of a
    /// credential. A running call may need the part in order to end.
    case part
    /// Work that sends nothing, such as finding the stored response of a request.
    case local
    /// The wait of an event stream between two connections. Draining does not wait for it.
    case pause
  }

  private(set) var phase = Phase.open
  /// The calls and groups that have not ended, without the waits of event streams between two connections.
  private(set) var running = 0
  /// The calls and groups that ended by themselves since draining began.
  private(set) var finished = 0
  /// The calls and groups that ended as cancelled after the deadline.
  private(set) var cancelled = 0
  /// The calls, groups and reconnections of event streams that were refused.
  private(set) var refused = 0

  /// Decides whether a call or a pause may start, and counts it. A pause that may start is not counted.
  mutating func enter(_ role: Role) -> Bool {
    switch (phase, role) {
    case (.open, .pause): return true
    case (.open, _), (_, .local), (.draining, .part):
      running += 1
      return true
    case (.draining, .own), (.draining, .pause), (.cancelling, _), (.idle, _):
      refused += 1
      return false
    }
  }

  /// Counts a call that has ended. Returns true if it was the last one, so that the calls of the client have ended.
  mutating func leave(isStopped: Bool) -> Bool {
    running = max(running - 1, 0)
    switch phase {
    case .open, .idle: return false
    case .draining: finished += 1
    case .cancelling: if isStopped { cancelled += 1 } else { finished += 1 }
    }
    if running == 0 { phase = .idle }
    return running == 0
  }

  /// Begins to drain. Returns false if draining began before.
  mutating func begin() -> Bool {
    guard phase == .open else { return false }
    phase = running == 0 ? .idle : .draining
    return true
  }

  /// The deadline has passed. Returns true if the running calls must be cancelled now.
  mutating func expire() -> Bool {
    guard phase == .draining else { return false }
    phase = .cancelling
    return true
  }

  func report(isCacheWritten: Bool) -> DrainReport {
    DrainReport(
      finished: finished, cancelled: cancelled, unfinished: phase == .idle ? 0 : running, refused: refused,
      isCacheWritten: isCacheWritten)
  }
}
