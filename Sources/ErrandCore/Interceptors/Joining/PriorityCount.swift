/// Counts the waiting calls of each priority.
struct PriorityCount: Sendable, Hashable {
  private var low = 0
  private var normal = 0
  private var high = 0

  /// The highest priority of the waiting calls; nil if no call waits.
  var highest: CallPriority? {
    if high > 0 { return .high }
    if normal > 0 { return .normal }
    return low > 0 ? .low : nil
  }

  mutating func add(_ priority: CallPriority) { change(priority, by: 1) }

  mutating func remove(_ priority: CallPriority) { change(priority, by: -1) }

  private mutating func change(_ priority: CallPriority, by step: Int) {
    switch priority {
    case .low: low += step
    case .normal: normal += step
    case .high: high += step
    }
  }
}
