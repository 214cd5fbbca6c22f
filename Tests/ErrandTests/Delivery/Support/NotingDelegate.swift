import Errand
import ErrandTesting

/// A delegate that records its notifications.
@MainActor final class NotingDelegate: CallDelegate {
  private let events: Recorded<String>

  init(_ events: Recorded<String>) { self.events = events }

  func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
    events.append("told \(call.value(of: ProbeRequest.self, in: response) == "value" ? "success" : "nonsense")")
  }
  func requestFailed(_ call: CallInfo, _ error: APIError) { events.append("told \(error.stage.rawValue)") }
}
