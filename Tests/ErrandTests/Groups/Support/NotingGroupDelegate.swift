import Errand
import ErrandTesting

/// A delegate that records its notifications.
@MainActor final class NotingGroupDelegate: GroupDelegate {
  private let events: Recorded<String>

  init(_ events: Recorded<String>) { self.events = events }

  func groupFinished(_ group: GroupInfo, _ value: any Sendable, _ report: GroupReport) {
    events.append("told success")
  }
  func groupFailed(_ group: GroupInfo, _ error: APIError, _ report: GroupReport) {
    events.append("told \(error.stage.rawValue)")
  }
}
