import ErrandSupport
import ErrandCore

/// The background refreshes that are under way, one for each variant of each key, and those that wait since the last one
/// failed.
final class RefreshTable: Sendable {
  /// A stored response.
  struct Place: Hashable {
    let key: CacheKey
    let variant: Digest
  }

  /// The failed refreshes of one stored response.
  private struct Failures: Sendable {
    /// When the stored response was received.
    let stored: WallTime
    var count: Int
    /// Before this moment the server is not asked again.
    var until: MonotonicInstant
  }

  /// For so many responses failures are known at most.
  private static let mostFailures = 1_024
  private static let longestPause = Duration.seconds(300)

  private let failures = Locked<[Place: Failures]>([:])
  private let running = Locked<[Place: CallState]>([:])
  private let waiting = Locked<[UnsafeContinuation<Void, Never>]>([])

  /// How long the server is left alone after so many failures one after the other: one second, then twice as long each
  /// time up to five minutes, and never less than `Retry-After` says.
  static func pause(after failures: Int, retryAfter: Duration?) -> Duration {
    let doubled = Duration.seconds(1 << min(max(failures - 1, 0), 9))
    return max(min(doubled, longestPause), retryAfter ?? .zero)
  }

  /// Begins the refresh of a response that was received at `stored`; false if one is running, or if the last one failed
  /// and its pause is not over.
  func begin(_ place: Place, stored: WallTime, _ state: CallState) -> Bool {
    let now = state.timers.now
    if let last = failures.withLock({ $0[place] }), last.stored == stored, now < last.until { return false }
    return running.withLock { running in
      guard running[place] == nil else { return false }
      running[place] = state
      return true
    }
  }

  /// The refresh is over.
  func end(_ place: Place, _ state: CallState) {
    let ended = running.withLock { running in
      running[place] === state ? running.removeValue(forKey: place) : nil
    }
    ended?.settle()
    tellIfIdle()
  }

  /// Notes that a refresh brought no response that could take the place of the stored one.
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

  /// Returns when none is under way.
  func idle() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      waiting.withLock { $0.append(continuation) }
      tellIfIdle()
    }
  }

  private func tellIfIdle() {
    guard running.withLock({ $0.isEmpty }) else { return }
    let told = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for continuation in told { continuation.resume() }
  }

  /// Whether none is under way.
  var isEmpty: Bool { running.withLock { $0.isEmpty } }

  /// Cancels the refreshes of what is removed.
  func cancel(_ selection: CacheSelection) {
    let stopped = running.withLock { running in
      running.filter { selection.endsRefresh(of: $0.key.key) }.map(\.value)
    }
    for state in stopped { state.stop(.cancelled) }
  }
}

extension CacheSelection {
  fileprivate func endsRefresh(of key: CacheKey) -> Bool {
    switch self {
    case .all: true
    case .account(let account): key.account == account
    default: false
    }
  }
}
