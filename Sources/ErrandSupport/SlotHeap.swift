/// A binary heap of numbered members. Each member has a key, and the member with the smallest key is first. The key of
/// a member can be changed, and a member can be removed.
///
/// The caller provides an array that contains the position of each member in the heap. The index into the array is the
/// number of the member. Several heaps may share one array if no member is in two heaps. The type is public and
/// inlinable so that other modules can specialise it; see ``Locked``.
@frozen public struct SlotHeap<Key: Comparable & Sendable>: Sendable {
  @usableFromInline var entries: [(key: Key, slot: Int)] = []

  /// Creates an empty heap.
  @inlinable public init() {}

  /// The number that the caller's array of positions contains for a member that is in no heap.
  @inlinable public static var nowhere: Int { -1 }

  /// True if the heap has no members.
  @inlinable public var isEmpty: Bool { entries.isEmpty }
  /// The number of members.
  @inlinable public var count: Int { entries.count }

  /// The member with the smallest key; nil if the heap is empty.
  @inlinable public var first: (key: Key, slot: Int)? { entries.first }

  /// Adds a member with its key. `places` is the caller's array that contains the positions of the members; the
  /// functions of the heap update it.
  @inlinable public mutating func insert(_ slot: Int, _ key: Key, _ places: inout [Int]) {
    entries.append((key, slot))
    places[slot] = entries.count - 1
    rise(from: entries.count - 1, &places)
  }

  /// Changes the key of a member, moves the member to its new position in the heap, and updates the positions in
  /// `places`.
  @inlinable public mutating func move(_ slot: Int, to key: Key, _ places: inout [Int]) {
    entries[places[slot]].key = key
    rise(from: places[slot], &places)
    sink(from: places[slot], &places)
  }

  /// Removes a member from the heap, and updates the positions in `places`.
  @inlinable public mutating func remove(_ slot: Int, _ places: inout [Int]) {
    let place = places[slot]
    places[slot] = Self.nowhere
    let last = entries.removeLast()
    guard place < entries.count else { return }
    entries[place] = last
    places[last.slot] = place
    rise(from: place, &places)
    sink(from: places[last.slot], &places)
  }

  @inlinable mutating func rise(from start: Int, _ places: inout [Int]) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].key < entries[parent].key else { return }
      swap(child, parent, &places)
      child = parent
    }
  }

  @inlinable mutating func sink(from start: Int, _ places: inout [Int]) {
    var parent = start
    while true {
      let left = 2 * parent + 1
      var least = parent
      if left < entries.count, entries[left].key < entries[least].key { least = left }
      if left + 1 < entries.count, entries[left + 1].key < entries[least].key { least = left + 1 }
      guard least != parent else { return }
      swap(parent, least, &places)
      parent = least
    }
  }

  @inlinable mutating func swap(_ one: Int, _ other: Int, _ places: inout [Int]) {
    entries.swapAt(one, other)
    places[entries[one].slot] = one
    places[entries[other].slot] = other
  }
}
