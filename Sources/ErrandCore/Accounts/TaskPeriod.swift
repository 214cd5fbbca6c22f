import Synchronization

/// A period of time, stored in a task-local value. A task that is started during the period inherits the value, and may
/// run longer than the period. So code that reads the value must check whether the period still lasts.
final class TaskPeriod: Sendable {
  private let isOver = Atomic(false)

  var lasts: Bool { !isOver.load(ordering: .acquiring) }
  func end() { isOver.store(true, ordering: .releasing) }
}
