import ErrandCore

/// Decides when an index that could not be used is tried again. The pauses double from 100 ms to 12.8 s.
struct IndexOutage {
  /// The number of consecutive failures.
  private var failures = 0
  private var pause: (end: MonotonicInstant, reason: SQLiteFailure)?

  /// Records that the index could be used.
  mutating func end() { failures = 0 }

  mutating func begin(_ reason: SQLiteFailure, at now: MonotonicInstant) {
    failures = min(failures + 1, 8)
    pause = (now.advanced(by: .milliseconds(50 << failures)), reason)
  }

  /// The failure with which an attempt ends immediately; nil if the index may be tried.
  func failure(at now: MonotonicInstant) -> SQLiteFailure? { pause.flatMap { now < $0.end ? $0.reason : nil } }
}

/// Decides whether the store's thread waits for another process that has locked the index.
enum LockPatience {
  /// Waits, even if lookups are pending: for lookups.
  case always
  /// Waits until a lookup is pending.
  case untilRead
  /// Waits until a lookup is pending, or a removal of many entries that the journal does not contain: for writes, while
  /// the journal may be written.
  case untilReadOrPurge
  case never

  /// - Parameters:
  ///   - hasReads: Whether lookups are pending.
  ///   - hasUnjournaledPurge: Whether a removal of many entries is pending and not in the journal.
  func isOver(hasReads: Bool, hasUnjournaledPurge: @autoclosure () -> Bool) -> Bool {
    switch self {
    case .always: false
    case .untilRead: hasReads
    case .untilReadOrPurge: hasReads || hasUnjournaledPurge()
    case .never: true
    }
  }
}

/// Decides what happens to the writes of a ``StoreWorker`` that another process delays.
///
/// A batch begins with ``begin(at:)``. If it fails because another process uses the index, ``delay(at:isClosing:)``
/// determines the next attempt. ``end()`` ends the batch, whether it was written or given up.
struct WriteDelay {
  /// The time of the next attempt; nil if no attempt waits.
  private(set) var retry: MonotonicInstant?
  /// The start of the first attempt that another process delayed; nil if none was delayed.
  private var since: MonotonicInstant?
  private var began: MonotonicInstant?
  /// Whether another process has prevented the truncation of the write-ahead log for more than two seconds.
  private var isLogStuck = false

  mutating func begin(at now: MonotonicInstant) {
    retry = nil
    began = now
  }

  /// Records that another process delayed the batch. Returns false if the batch must be given up: after 30 seconds, or
  /// after 5 seconds while the store is being closed.
  mutating func delay(at now: MonotonicInstant, isClosing: Bool) -> Bool {
    let first = since ?? now
    since = first
    guard first.duration(to: now) <= (isClosing ? .seconds(5) : .seconds(30)) else { return false }
    retry = now.advanced(by: .milliseconds(20))
    return true
  }

  /// Whether the batch has been tried for more than a second. Single removals are then recorded in the journal.
  func isLong(at now: MonotonicInstant) -> Bool {
    guard let began else { return false }
    return min(since ?? began, began).duration(to: now) > .seconds(1)
  }

  /// Records whether the write-ahead log has space for the batch. If not, returns whether the batch waits for space.
  /// After two seconds it does not wait: its new entries are dropped, and only its removals are carried out.
  mutating func waitsForLog(hasSpace: Bool, at now: MonotonicInstant) -> Bool {
    isLogStuck = !hasSpace && (isLogStuck || since.map { $0.duration(to: now) > .seconds(2) } ?? false)
    return !hasSpace && !isLogStuck
  }

  mutating func end() { (retry, since, began) = (nil, nil, nil) }
}
