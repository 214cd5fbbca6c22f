import Synchronization

/// A time that a task-local value marks. A task that is started in it inherits the mark and may outlive the time.
final class MarkedTime: Sendable {
  private let isOver = Atomic(false)

  var lasts: Bool { !isOver.load(ordering: .acquiring) }
  func end() { isOver.store(true, ordering: .releasing) }
}
