import Errand
import ErrandSupport

/// Displays the progress of an upload.
final class UploadWatch: Accessory {
  private let display: ProgressDisplay?
  private let number: Int
  private let name: String
  private let sent = Locked<Int64>(0)

  /// Adds an upload to a display. If the display is nil, nothing is displayed.
  init(_ name: String, on display: ProgressDisplay?) {
    self.name = name
    self.display = display
    number = display?.add(ProgressState(name: name, phase: .waiting)) ?? 0
  }

  /// The number of body bytes that were sent.
  var bytes: Int64 { sent.withLock { $0 } }

  /// Displays the final state of the upload.
  func end(_ state: ProgressState) { display?.report(state, of: number) }

  func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    guard progress.direction == .upload else { return }
    sent.withLock { $0 = progress.bytes }
    let state = ProgressState(
      name: name, bytes: progress.bytes, total: progress.total, rate: progress.rate, timeLeft: progress.timeLeft)
    display?.report(state, of: number)
  }
}
