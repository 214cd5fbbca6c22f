import Errand

/// Shows how far an upload is.
struct UploadWatch: Accessory {
  let display: ProgressDisplay
  /// The upload's number in the display.
  let number: Int
  let name: String

  func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    guard progress.direction == .upload else { return }
    let state = ProgressState(
      name: name, bytes: progress.bytes, total: progress.total, rate: progress.rate, timeLeft: progress.timeLeft)
    display.report(state, of: number)
  }
}
