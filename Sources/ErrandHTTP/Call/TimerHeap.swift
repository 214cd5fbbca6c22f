import ErrandSupport

/// Scheduled actions in the order of their times. Each action can be removed by its token.
///
/// The actions are stored in a table. The low 32 bits of a token's number are an index in this table. The high 32 bits
/// count how often the element of the table was reused, so that an old token never refers to a new action.
package struct TimerHeap: Sendable {
  package typealias Action = @Sendable () -> Void

  private struct Slot {
    var action: Action?
    var generation: UInt32
  }

  private var heap = SlotHeap<Int64>()
  private var places: [Int] = []
  private var slots: [Slot] = []
  private var free: [Int] = []

  package init() {}

  package var count: Int { heap.count }

  /// The time of the earliest action; nil if nothing is scheduled.
  package var next: MonotonicInstant? {
    heap.first.map { MonotonicInstant(nanoseconds: $0.key) }
  }

  package mutating func insert(at instant: MonotonicInstant, _ action: @escaping Action) -> TimerToken {
    let slot: Int
    if let reused = free.popLast() {
      slot = reused
      slots[slot].action = action
    } else {
      slot = slots.count
      slots.append(Slot(action: action, generation: 0))
      places.append(SlotHeap<Int64>.nowhere)
    }
    heap.insert(slot, instant.nanoseconds, &places)
    return TimerToken(number: UInt64(slots[slot].generation) << 32 | UInt64(slot))
  }

  /// Removes an action and returns it. The caller can then release the objects that the action has captured, without
  /// holding a lock.
  package mutating func remove(_ token: TimerToken) -> Action? {
    let slot = Int(token.number & 0xFFFF_FFFF)
    guard slot < slots.count, slots[slot].generation == UInt32(token.number >> 32), slots[slot].action != nil else {
      return nil
    }
    return take(slot)
  }

  /// Removes and returns the earliest action if it is due at `now`.
  package mutating func popDue(_ now: MonotonicInstant) -> Action? {
    guard let first = heap.first, first.key <= now.nanoseconds else { return nil }
    return take(first.slot)
  }

  private mutating func take(_ slot: Int) -> Action? {
    heap.remove(slot, &places)
    let action = slots[slot].action
    slots[slot].action = nil
    slots[slot].generation &+= 1
    free.append(slot)
    return action
  }
}
