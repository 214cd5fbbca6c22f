import Errand
import Synchronization

/// A bar with four parts. Each is printed once, when that share of the body was sent.
final class UploadBar: Accessory {
  private let console: Console
  private let drawn = Mutex(0)

  init(_ console: Console) { self.console = console }

  func willStart(_ call: CallInfo) { drawn.withLock { $0 = 0 } }

  func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    guard progress.direction == .upload, let fraction = progress.fraction else { return }
    let parts = Int(fraction * 4)
    let before = drawn.withLock { drawn in
      defer { drawn = max(drawn, parts) }
      return drawn
    }
    for part in 0..<max(0, parts - before) { console.say("sent: \((before + part + 1) * 25) %") }
  }
}
