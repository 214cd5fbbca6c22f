import ErrandCore
import ErrandSupport

/// Tells how far a download is, over all its exchanges: the bytes of earlier calls count, and the whole is told only
/// once the file has its name.
final class DownloadMeter: Sendable {
  private struct State: Sendable {
    var base: Int64 = 0
    var total: Int64?
    /// The bytes that were told last.
    var told: Int64 = 0
  }

  private let state = Locked(State())
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// An answer begins whose body goes behind so many bytes.
  func begin(behind base: Int64, total: Int64?) {
    let isRestart = state.withLock { state in
      defer { state = State(base: base, total: total, told: base) }
      return base != state.told
    }
    if isRestart { report(TransferProgress(.download, bytes: base, total: total, isRestart: true)) }
  }

  /// What the transport says of this exchange.
  func tell(_ progress: TransferProgress) {
    guard progress.direction == .download else { return report(progress) }
    let state = state.withLock { state -> State? in
      let (bytes, overflow) = state.base.addingReportingOverflow(progress.bytes)
      guard !overflow, state.total.map({ bytes < $0 }) ?? true else { return nil }
      state.told = bytes
      return state
    }
    if let state { report(TransferProgress(.download, bytes: state.told, total: state.total)) }
  }

  /// The file has its name.
  func finish(_ bytes: Int64) { report(TransferProgress(.download, bytes: bytes, total: bytes)) }
}
