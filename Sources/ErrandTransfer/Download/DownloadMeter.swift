import ErrandCore
import ErrandSupport

/// Reports the progress of a download over all its exchanges. Bytes of earlier calls are included. The total is
/// reported as reached only once the file is at its target.
final class DownloadMeter: Sendable {
  private struct State: Sendable {
    var base: Int64 = 0
    var total: Int64?
    /// Whether this call has received a body of the file before.
    var hasBegun = false
    /// Whether the response headers of the present exchange have arrived. Before that, its reports are ignored.
    var isOpen = false
    /// The number of bytes that was reported last.
    var told: Int64 = 0
    /// Whether one of the parallel exchanges is reporting.
    var isTelling = false

    /// Whether the progress restarts at this offset. It does if the last report was higher, or if the first body of a
    /// call does not begin at 0. Later in a call, an offset above the last report is no restart, because reports are
    /// infrequent.
    func isRestart(_ bytes: Int64) -> Bool { bytes < told || !hasBegun && bytes > 0 }
  }

  private let state = Locked(State())
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// Called when a response starts whose body begins at this offset.
  func begin(behind base: Int64, total: Int64?) {
    let isRestart = state.withLock { state in
      defer { state = State(base: base, total: total, hasBegun: true, isOpen: true, told: base) }
      return state.isRestart(base)
    }
    if isRestart { report(TransferProgress(.download, bytes: base, total: total, isRestart: true)) }
  }

  /// Called when another exchange starts. Its reports are ignored until its response headers arrive.
  func waitForHead() { state.withLock { $0.isOpen = false } }

  /// Forwards a report of the transport for the present exchange.
  func tell(_ progress: TransferProgress) {
    guard progress.direction == .download else { return report(progress) }
    let state = state.withLock { state -> State? in
      let (bytes, overflow) = state.base.addingReportingOverflow(progress.bytes)
      guard state.isOpen, !overflow, state.total.map({ bytes < $0 }) ?? true else { return nil }
      state.told = bytes
      return state
    }
    if let state { report(TransferProgress(.download, bytes: state.told, total: state.total)) }
  }

  /// Called when parallel requests start. The partial file already has this many bytes.
  func beginSideBySide(behind bytes: Int64, total: Int64) {
    let isRestart = state.withLock { state in
      defer { state = State(base: bytes, total: total, hasBegun: true, isOpen: true, told: bytes) }
      return state.isRestart(bytes)
    }
    if isRestart { report(TransferProgress(.download, bytes: bytes, total: total, isRestart: true)) }
  }

  /// Reports the total number of bytes. Only one thread reports at a time, so that the reported number never decreases.
  func tellSideBySide(_ bytes: Int64) {
    let total = state.withLock { state -> Int64? in
      guard !state.isTelling, bytes > state.told, let total = state.total, bytes < total else { return nil }
      state.told = bytes
      state.isTelling = true
      return total
    }
    guard let total else { return }
    report(TransferProgress(.download, bytes: bytes, total: total))
    state.withLock { $0.isTelling = false }
  }

  /// Called when the file is at its target.
  func finish(_ bytes: Int64) { report(TransferProgress(.download, bytes: bytes, total: bytes)) }
}
