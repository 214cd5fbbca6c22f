import ErrandSupport

/// Reports the progress of a shared exchange to one caller. Reports do not overlap, and there is no report after
/// `close()` has returned.
///
/// The phase after a call of `tell` or `close`:
///
/// | phase | tell | close |
/// |---|---|---|
/// | idle | telling, then idle | closed |
/// | telling | – | closing: waits for the report to end |
/// | closed | nothing | – |
final class JoinListener: Sendable {
  private enum Phase: Sendable {
    case idle, telling, closed
    case closing(UnsafeContinuation<Void, Never>)
  }

  private let phase = Locked(Phase.idle)
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// Reports progress, on the transport's thread.
  func tell(_ progress: TransferProgress) {
    let mayTell = phase.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .telling
      return true
    }
    guard mayTell else { return }
    report(progress)
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
        if case .telling = phase {
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
