import ErrandCore
import ErrandSupport

/// Tells how far a download is, over all its exchanges: the bytes of earlier calls count, and the whole is told only
/// once the file has its name.
final class DownloadMeter: Sendable {
  private struct State: Sendable {
    var base: Int64 = 0
    var total: Int64?
    /// Whether a body of the file has come before in this call.
    var hasBegun = false
    /// Whether the body that comes is one of the file.
    var isOpen = false
    /// The bytes that were told last.
    var told: Int64 = 0
    /// Whether one of several side by side is telling.
    var isTelling = false

    /// Whether counting begins anew behind so many bytes. More than was told is no restart within a call: the line tells
    /// now and then only.
    func isRestart(_ bytes: Int64) -> Bool { bytes < told || !hasBegun && bytes > 0 }
  }

  private let state = Locked(State())
  private let report: @Sendable (TransferProgress) -> Void

  init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

  /// An answer begins whose body goes behind so many bytes.
  func begin(behind base: Int64, total: Int64?) {
    let isRestart = state.withLock { state in
      defer { state = State(base: base, total: total, hasBegun: true, isOpen: true, told: base) }
      return state.isRestart(base)
    }
    if isRestart { report(TransferProgress(.download, bytes: base, total: total, isRestart: true)) }
  }

  /// Another exchange begins; until it has brought a head, what it says is not of the file.
  func waitForHead() { state.withLock { $0.isOpen = false } }

  /// What the transport says of this exchange.
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

  /// Several answers begin side by side, behind so many bytes in all.
  func beginSideBySide(behind bytes: Int64, total: Int64) {
    let isRestart = state.withLock { state in
      defer { state = State(base: bytes, total: total, hasBegun: true, isOpen: true, told: bytes) }
      return state.isRestart(bytes)
    }
    if isRestart { report(TransferProgress(.download, bytes: bytes, total: total, isRestart: true)) }
  }

  /// So many bytes are there in all. One at a time, so that what is told never goes back.
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

  /// The file has its name.
  func finish(_ bytes: Int64) { report(TransferProgress(.download, bytes: bytes, total: bytes)) }
}
