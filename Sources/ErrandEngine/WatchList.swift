#if os(Linux)
  import ErrandHTTP
  import ErrandSupport

  /// Things that have to be looked at in time, the first one in front. Nothing is moved when a moment is put off:
  /// whoever is looked at too early is put in again.
  struct WatchList<Watched: AnyObject> {
    private var heap = SlotHeap<Int64>()
    private var places: [Int] = []
    /// When each member is to be looked at, if it is in the heap.
    private var moments: [Int64] = []
    private var members: [Watched?] = []
    private var free: [Int] = []

    /// The number of members.
    private(set) var count = 0

    /// When the first one is to be looked at; nil if none is.
    var next: MonotonicInstant? { heap.first.map { MonotonicInstant(nanoseconds: $0.key) } }

    /// Every member.
    var all: [Watched] { members.compactMap { $0 } }

    /// Adds a member, which is not looked at yet. Returns its number.
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

    /// Takes a member out.
    mutating func remove(_ slot: Int) {
      guard members[slot] != nil else { return }
      if places[slot] != SlotHeap<Int64>.nowhere { heap.remove(slot, &places) }
      members[slot] = nil
      free.append(slot)
      count -= 1
    }

    /// Has a member looked at at a moment, or before it.
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

    /// A member that is to be looked at; it is not looked at again unless that is asked for.
    mutating func popDue(_ now: MonotonicInstant) -> Watched? {
      guard let first = heap.first, first.key <= now.nanoseconds else { return nil }
      heap.remove(first.slot, &places)
      return members[first.slot]
    }
  }
#endif
