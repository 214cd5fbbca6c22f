import Errand
import ErrandTesting

/// An accessory that records its notifications.
final class Noter: Accessory {
  private let name: String
  private let events: Recorded<String>
  private let ended: Latch?

  init(_ name: String, _ events: Recorded<String>, ended: Latch? = nil) {
    self.name = name
    self.events = events
    self.ended = ended
  }

  func willStart(_ call: CallInfo) { events.append("willStart \(name)") }
  func progressed(_ call: CallInfo, _ progress: TransferProgress) { events.append("progress \(name)") }
  func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { events.append("willStop \(name) \(outcome.told)") }
  func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
    events.append("didStop \(name) \(outcome.told)")
    ended?.open()
  }
}
