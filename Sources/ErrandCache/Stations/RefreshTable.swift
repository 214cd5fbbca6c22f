import ErrandSupport
import ErrandCore

/// The background refreshes that are under way: one for each variant of each key.
final class RefreshTable: Sendable {
  /// A stored response.
  struct Place: Hashable {
    let key: CacheKey
    let variant: Digest
  }

  private let running = Locked<[Place: CallState]>([:])
  private let waiting = Locked<[UnsafeContinuation<Void, Never>]>([])

  /// Begins the refresh of a stored response; false if one is under way.
  func begin(_ place: Place, _ state: CallState) -> Bool {
    running.withLock { running in
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
