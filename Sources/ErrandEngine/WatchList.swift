#if os(Linux)
  import ErrandHTTP
  import ErrandSupport

  /// A list of objects that must be checked at certain times, ordered by time. A member whose check time is moved to a
  /// later time keeps its place in the list. The member is then checked too early, and the caller schedules the check
  /// again.
  struct WatchList<Watched: AnyObject> {
    private var heap = SlotHeap<Int64>()
    private var places: [Int] = []
    /// The check time of each member that is in the heap, in nanoseconds.
    private var moments: [Int64] = []
    private var members: [Watched?] = []
    private var free: [Int] = []

    /// The number of members of the list.
    private(set) var count = 0

    /// The earliest check time. Nil if no check is scheduled.
    var next: MonotonicInstant? { heap.first.map { MonotonicInstant(nanoseconds: $0.key) } }

    /// All members of the list.
    var all: [Watched] { members.compactMap { $0 } }

    /// Adds a member without a check time. Returns the member's index.
    mutating func insert(_ member: Watched) -> Int {
      count += 1
      if let slot = free.popLast() {
        members[slot] = member
        return slot
      }
      members.append(member)
      places.append(SlotHeap<Int64>.nowhere)
      moments.append(0)
      return members.count - 1
    }

    /// Removes the member at an index of the list.
    mutating func remove(_ slot: Int) {
      guard members[slot] != nil else { return }
      if places[slot] != SlotHeap<Int64>.nowhere { heap.remove(slot, &places) }
      members[slot] = nil
      free.append(slot)
      count -= 1
    }

    /// Schedules a check of a member at `moment` or earlier.
    mutating func expect(_ slot: Int, at moment: MonotonicInstant) {
      let isNew = places[slot] == SlotHeap<Int64>.nowhere
      guard isNew || moment.nanoseconds < moments[slot] else { return }
      moments[slot] = moment.nanoseconds
      if isNew {
        heap.insert(slot, moment.nanoseconds, &places)
      } else {
        heap.move(slot, to: moment.nanoseconds, &places)
      }
    }

    /// Returns a member whose check is due and removes its check time. The caller must schedule the next check.
    mutating func popDue(_ now: MonotonicInstant) -> Watched? {
      guard let first = heap.first, first.key <= now.nanoseconds else { return nil }
      heap.remove(first.slot, &places)
      return members[first.slot]
    }
  }
#endif
