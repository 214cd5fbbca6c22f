/// Scheduled actions in the order of their moments: a binary heap whose members can be taken out by name.
///
/// A token's number is its slot (low 32 bits) and the slot's generation (high 32 bits), so an old token never
/// reaches a new action.
package struct TimerHeap: Sendable {
  package typealias Action = @Sendable () -> Void

  private struct Slot {
    var action: Action?
    var position: Int
    var generation: UInt32
  }

  private var heap: [(at: Int64, slot: Int)] = []
  private var slots: [Slot] = []
  private var free: [Int] = []

  package init() {}

  package var count: Int { heap.count }

  /// The earliest moment, or nil when nothing is scheduled.
  package var next: MonotonicInstant? {
    heap.first.map { MonotonicInstant(nanoseconds: $0.at) }
  }

  package mutating func insert(at instant: MonotonicInstant, _ action: @escaping Action) -> TimerToken {
    let slot: Int
    if let reused = free.popLast() {
      slot = reused
      slots[slot].action = action
    } else {
      slot = slots.count
      slots.append(Slot(action: action, position: 0, generation: 0))
    }
    heap.append((instant.nanoseconds, slot))
    slots[slot].position = heap.count - 1
    rise(from: heap.count - 1)
    return TimerToken(number: UInt64(slots[slot].generation) << 32 | UInt64(slot))
  }

  /// Takes an action out and gives it back, so that what it holds is released outside the caller's lock.
  package mutating func remove(_ token: TimerToken) -> Action? {
    let slot = Int(token.number & 0xFFFF_FFFF)
    guard slot < slots.count, slots[slot].generation == UInt32(token.number >> 32), slots[slot].action != nil else {
      return nil
    }
    return take(at: slots[slot].position)
  }

  /// Takes out the earliest action that is due at `now`.
  package mutating func popDue(_ now: MonotonicInstant) -> Action? {
    guard let first = heap.first, first.at <= now.nanoseconds else { return nil }
    return take(at: 0)
  }

  private mutating func take(at position: Int) -> Action? {
    let slot = heap[position].slot
    let last = heap.count - 1
    if position != last { swap(position, last) }
    heap.removeLast()
    if position < heap.count {
      rise(from: position)
      sink(from: position)
    }
    let action = slots[slot].action
    slots[slot].action = nil
    slots[slot].generation &+= 1
    free.append(slot)
    return action
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    slots[heap[a].slot].position = a
    slots[heap[b].slot].position = b
  }

  private mutating func rise(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].at < heap[parent].at else { return }
      swap(child, parent)
      child = parent
    }
  }

  private mutating func sink(from start: Int) {
    var parent = start
    while true {
      let left = 2 * parent + 1
      var least = parent
      if left < heap.count, heap[left].at < heap[least].at { least = left }
      if left + 1 < heap.count, heap[left + 1].at < heap[least].at { least = left + 1 }
      guard least != parent else { return }
      swap(parent, least)
      parent = least
    }
  }
}
