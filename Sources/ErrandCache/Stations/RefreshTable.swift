import ErrandSupport
import ErrandCore

/// The background refreshes that are under way: one for each key.
final class RefreshTable: Sendable {
  private let running = Locked<[CacheKey: CallState]>([:])
  private let waiting = Locked<[UnsafeContinuation<Void, Never>]>([])

  /// Takes up the refresh of a key; false where one is under way.
  func begin(_ key: CacheKey, _ state: CallState) -> Bool {
    running.withLock { running in
      guard running[key] == nil else { return false }
      running[key] = state
      return true
    }
  }

  /// The refresh is over.
  func end(_ key: CacheKey, _ state: CallState) {
    let ended = running.withLock { running in
      running[key] === state ? running.removeValue(forKey: key) : nil
    }
    ended?.settle()
    tellIfIdle()
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
      running.filter { selection.endsRefresh(of: $0.key) }.map(\.value)
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
