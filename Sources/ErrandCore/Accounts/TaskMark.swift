import Synchronization

/// A period of time that a task-local value marks. A task that is started during the period inherits the value, and may
/// run longer than the period.
final class TaskMark: Sendable {
  private let isOver = Atomic(false)

  var lasts: Bool { !isOver.load(ordering: .acquiring) }
  func end() { isOver.store(true, ordering: .releasing) }
}
