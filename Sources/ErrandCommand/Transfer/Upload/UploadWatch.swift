import Errand
import ErrandSupport

/// Shows how far an upload is.
final class UploadWatch: Accessory {
  private let display: ProgressDisplay?
  private let number: Int
  private let name: String
  private let sent = Locked<Int64>(0)

  /// Adds an upload to a display; nil shows nothing.
  init(_ name: String, on display: ProgressDisplay?) {
    self.name = name
    self.display = display
    number = display?.add(ProgressState(name: name, phase: .waiting)) ?? 0
  }

  /// How many bytes of the body have gone out.
  var bytes: Int64 { sent.withLock { $0 } }

  /// Shows the end.
  func end(_ state: ProgressState) { display?.report(state, of: number) }

  func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    guard progress.direction == .upload else { return }
    sent.withLock { $0 = progress.bytes }
    let state = ProgressState(
      name: name, bytes: progress.bytes, total: progress.total, rate: progress.rate, timeLeft: progress.timeLeft)
    display?.report(state, of: number)
  }
}
