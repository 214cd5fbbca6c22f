import ErrandSupport

/// Reports progress and informational responses to one call until the gate is closed. A call needs a gate if its
/// exchange may run longer than the call waits: a shared exchange, or one of the copies of a hedged request.
///
/// Reports do not overlap, and no report is made after ``close()`` has returned.
///
/// The table shows the effect of the methods `report` and `close` in each phase of the gate, and the next phase:
///
/// | phase | report | close |
/// |---|---|---|
/// | idle | reporting, then idle | closed |
/// | reporting | – | closing: waits for the report to end |
/// | closed | nothing | – |
final class ReportGate: Sendable {
  private enum Phase: Sendable {
    case idle, reporting, closed
    case closing(UnsafeContinuation<Void, Never>)
  }

  private let phase = Locked(Phase.idle)
  private let onProgress: (@Sendable (TransferProgress) -> Void)?
  private let onInformational: (@Sendable (ResponseHead) -> Void)?

  /// Makes a gate with the closures of a call; nil if the call has none.
  init?(_ context: CallContext) {
    onProgress = context.onProgress
    onInformational = context.onInformational
    if onProgress == nil, onInformational == nil { return nil }
  }

  /// Reports progress on the current thread, which is a thread of the transport.
  func report(_ progress: TransferProgress) { report { onProgress?(progress) } }

  /// Reports an informational response on the current thread, which is a thread of the transport.
  func report(_ head: ResponseHead) { report { onInformational?(head) } }

  private func report(_ callback: () -> Void) {
    let mayReport = phase.withLock { phase in
      guard case .idle = phase else { return false }
      phase = .reporting
      return true
    }
    guard mayReport else { return }
    callback()
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

  /// Closes the gate. When this method returns, no report is running and no report follows.
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
