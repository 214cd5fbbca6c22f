import ErrandSupport

/// Reports the progress of a shared exchange to one call. Reports do not overlap, and no report is made after
/// ``close()`` has returned.
///
/// The table shows the effect of the methods `report` and `close` in each phase of the listener, and the next phase:
///
/// | phase | report | close |
/// |---|---|---|
/// | idle | reporting, then idle | closed |
/// | reporting | – | closing: waits for the report to end |
/// | closed | nothing | – |
final class JoinListener: Sendable {
  private enum Phase: Sendable {
    case idle, reporting, closed
    case closing(UnsafeContinuation<Void, Never>)
  }

  private let phase = Locked(Phase.idle)
  private let callback: @Sendable (TransferProgress) -> Void

  init(_ callback: @escaping @Sendable (TransferProgress) -> Void) { self.callback = callback }

  /// Reports progress on the current thread, which is a thread of the transport.
  func report(_ progress: TransferProgress) {
    let mayReport = phase.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .reporting
      return true
    }
    guard mayReport else { return }
    callback(progress)
    let waiting = phase.withLock { phase -> UnsafeContinuation<Void, Never>? in
      guard case .closing(let waiting) = phase else {
        phase = .idle
        return nil
      }
      phase = .closed
      return waiting
    }
    waiting?.resume()
  }

  /// Closes the listener. When this method returns, no report is running and no report follows.
  func close() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isClosed = phase.withLock { phase in
        if case .reporting = phase {
          phase = .closing(continuation)
          return false
        }
        phase = .closed
        return true
      }
      if isClosed { continuation.resume() }
    }
  }
}
