import ErrandSupport
import ErrandCore

/// The background refreshes in progress, at most one for each stored response, and the pauses after failed refreshes.
final class RefreshTable: Sendable {
  /// Identifies a stored response.
  struct Place: Hashable {
    let key: CacheKey
    let variant: Digest
  }

  /// The failed background refreshes of one stored response.
  private struct Failures: Sendable {
    /// The time at which the stored response was received. A failure counts only for this response, not for a newer
    /// one.
    let stored: WallTime
    var count: Int
    /// The end of the pause after a failure: no refresh of the response starts before this instant.
    var until: MonotonicInstant
  }

  /// A background refresh that is in progress.
  private struct Refresh: Sendable {
    let state: CallState
    let head: CacheEntryHead
  }

  private struct Running: Sendable {
    var refreshes: [Place: Refresh] = [:]
    var isClosed = false
  }

  /// The maximum number of responses whose failures are remembered.
  private static let mostFailures = 1_024
  private static let longestPause = Duration.seconds(300)

  private let failures = Locked<[Place: Failures]>([:])
  private let running = Locked(Running())
  private let waiting = Locked<[UnsafeContinuation<Void, Never>]>([])

  /// The pause after the given number of consecutive failures: one second, doubled with each failure up to five
  /// minutes. It is never shorter than `Retry-After`.
  static func pause(after failures: Int, retryAfter: Duration?) -> Duration {
    let doubled = Duration.seconds(1 << min(max(failures - 1, 0), 9))
    return max(min(doubled, longestPause), retryAfter ?? .zero)
  }

  /// Registers the refresh of a stored response with the given head. Returns false if a refresh of the response is in
  /// progress, if the last refresh failed and its pause is not over, or if the table is closed.
  func begin(_ place: Place, _ head: CacheEntryHead, _ state: CallState) -> Bool {
    let (now, stored) = (state.timers.now, head.responseTime)
    if let last = failures.withLock({ $0[place] }), last.stored == stored, now < last.until { return false }
    return running.withLock { running in
      guard running.refreshes[place] == nil, !running.isClosed else { return false }
      running.refreshes[place] = Refresh(state: state, head: head)
      return true
    }
  }

  func end(_ place: Place, _ state: CallState) {
    let ended = running.withLock { running in
      running.refreshes[place]?.state === state ? running.refreshes.removeValue(forKey: place) : nil
    }
    ended?.state.settle()
    tellIfIdle()
  }

  /// Records that a refresh failed: it did not produce a response that replaces the stored response.
  func fail(_ place: Place, stored: WallTime, retryAfter: Duration?, now: MonotonicInstant) {
    failures.withLock { failures in
      let before = failures[place].map { $0.stored == stored ? $0.count : 0 } ?? 0
      let count = min(before, 64) + 1
      if failures.count >= Self.mostFailures { failures = failures.filter { now < $0.value.until } }
      if failures.count >= Self.mostFailures, let first = failures.min(by: { $0.value.until < $1.value.until }) {
        failures[first.key] = nil
      }
      let until = now.advanced(by: Self.pause(after: count, retryAfter: retryAfter))
      failures[place] = Failures(stored: stored, count: count, until: until)
    }
  }

  /// Waits until no refresh is in progress.
  func idle() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      waiting.withLock { $0.append(continuation) }
      tellIfIdle()
    }
  }

  private func tellIfIdle() {
    guard isEmpty else { return }
    let told = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for continuation in told { continuation.resume() }
  }

  var isEmpty: Bool { running.withLock { $0.refreshes.isEmpty } }

  /// Cancels the refreshes in progress, and waits until they have ended. No refresh begins afterwards.
  func close() async {
    running.withLock { $0.isClosed = true }
    cancel(.all)
    await idle()
  }

  /// Cancels the refreshes in progress of the selected responses, because these responses were removed.
  func cancel(_ selection: CacheSelection) {
    let stopped = running.withLock { running in
      running.refreshes.filter { selection.picks($0.key.key, $0.value.head) }.map(\.value.state)
    }
    for state in stopped { state.stop(.cancelled) }
  }
}
