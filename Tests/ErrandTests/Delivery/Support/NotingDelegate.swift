import Errand
import ErrandTesting

/// A delegate that records its notifications.
@MainActor final class NotingDelegate: CallDelegate {
  private let events: Recorded<String>

  init(_ events: Recorded<String>) { self.events = events }

  func requestFinished(_ call: FinishedCall) {
    events.append("told \(call.value(of: ProbeRequest.self) == "value" ? "success" : "nonsense")")
  }
  func requestFailed(_ call: FailedCall) { events.append("told \(call.error.stage.rawValue)") }
}
