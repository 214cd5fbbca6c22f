import Errand
import ErrandTesting

/// A delegate that records its notifications.
@MainActor final class NotingGroupDelegate: GroupDelegate {
  private let events: Recorded<String>

  init(_ events: Recorded<String>) { self.events = events }

  func groupFinished(_ group: FinishedGroup) { events.append("told success") }
  func groupFailed(_ group: FailedGroup) { events.append("told \(group.error.stage.rawValue)") }
}
