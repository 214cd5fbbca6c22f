import ErrandCore
import ErrandSupport

/// Reports the progress of a download over all its HTTP exchanges. Bytes of earlier calls are included. The number of
/// bytes is reported as equal to the total only when the file is at its target.
final class DownloadMeter: Sendable {
  private struct State: Sendable {
    var base: Int64 = 0
    var total: Int64?
    /// Whether a response body with bytes of the file has already started in this call. The body of an error response
    /// does not count.
    var hasBegun = false
    /// Whether the response headers of the present HTTP exchange have arrived. Progress reports of the transport are
    /// ignored until then.
    var isOpen = false
    /// The number of bytes in the last progress report.
    var reported: Int64 = 0
    /// Whether one of the parallel exchanges is calling the progress closure at this moment.
    var isReporting = false

    /// Whether a response body that starts at this offset of the file restarts the progress. True if more bytes were
    /// already reported. Also true if the body is the first body of the call and does not start at offset 0. A later
    /// body may start above the last report without a restart, because not all received bytes are reported at once.
    func isRestart(_ bytes: Int64) -> Bool { bytes < reported || !hasBegun && bytes > 0 }
  }

  private let state = Locked(State())
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// Called when the body of a response starts, or when parallel requests for ranges start. `base` is the offset of the
  /// body in the file, or the number of bytes that the partial file already has.
  func begin(behind base: Int64, total: Int64?) {
    let isRestart = state.withLock { state in
      defer { state = State(base: base, total: total, hasBegun: true, isOpen: true, reported: base) }
      return state.isRestart(base)
    }
    if isRestart { report(TransferProgress(.download, bytes: base, total: total, isRestart: true)) }
  }

  /// Called when another HTTP exchange of the download starts. Progress reports are ignored until the response headers
  /// of this exchange arrive.
  func waitForHead() { state.withLock { $0.isOpen = false } }

  /// Forwards a progress report of the transport. Before that, adds the offset in the file at which the present
  /// response body starts to the number of bytes.
  func forward(_ progress: TransferProgress) {
    guard progress.direction == .download else { return report(progress) }
    let state = state.withLock { state -> State? in
      let (bytes, overflow) = state.base.addingReportingOverflow(progress.bytes)
      guard state.isOpen, !overflow, state.total.map({ bytes < $0 }) ?? true else { return nil }
      state.reported = bytes
      return state
    }
    if let state { report(TransferProgress(.download, bytes: state.reported, total: state.total)) }
  }

  /// Reports the number of bytes that all parallel requests have received together. Only one thread reports at a time,
  /// so that the reported number never decreases.
  func reportSideBySide(_ bytes: Int64) {
    let total = state.withLock { state -> Int64? in
      guard !state.isReporting, bytes > state.reported, let total = state.total, bytes < total else { return nil }
      state.reported = bytes
      state.isReporting = true
      return total
    }
    guard let total else { return }
    report(TransferProgress(.download, bytes: bytes, total: total))
    state.withLock { $0.isReporting = false }
  }

  /// Called when the downloaded file is at its target path. Reports that all bytes are complete. If no body has started
  /// in this call, because the partial file was already complete, the counting starts at these bytes.
  func finish(_ bytes: Int64) {
    let isRestart = state.withLock { !$0.hasBegun && bytes > 0 }
    report(TransferProgress(.download, bytes: bytes, total: bytes, isRestart: isRestart))
  }
}
