import ErrandCore
import ErrandSupport

/// Tells how far a download is, over all its exchanges: the bytes of earlier calls count, and the whole is told only
/// once the file has its name.
final class DownloadMeter: Sendable {
  private struct State: Sendable {
    var base: Int64 = 0
    var total: Int64?
  }

  private let state = Locked(State())
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// An answer begins whose body goes behind so many bytes.
  func begin(behind base: Int64, total: Int64?) {
    state.withLock { $0 = State(base: base, total: total) }
  }

  /// What the transport says of this exchange.
  func tell(_ progress: TransferProgress) {
    guard progress.direction == .download else { return report(progress) }
    let state = state.withLock { $0 }
    let (bytes, overflow) = state.base.addingReportingOverflow(progress.bytes)
    guard !overflow, state.total.map({ bytes < $0 }) ?? true else { return }
    report(TransferProgress(.download, bytes: bytes, total: state.total))
  }

  /// The file has its name.
  func finish(_ bytes: Int64) { report(TransferProgress(.download, bytes: bytes, total: bytes)) }
}
