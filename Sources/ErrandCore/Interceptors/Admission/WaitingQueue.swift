import ErrandSupport

/// The waiting calls (*waiters*) of an admission queue. Selects the waiter that is next at one host or among several
/// hosts.
///
/// The most urgent waiters are first. A waiter becomes one step more urgent for each `ageing` that it has waited, up to
/// the highest priority. Owners with equally urgent waiters take turns: at each host if only the limit of that host
/// delays them, and over all hosts if the total limit delays them. The two orders are separate: in a single order, an
/// owner that is often served at one host would never be the next at another host. Waiters of one owner are served in
/// order.
///
/// A *lane* contains the waiters of one owner at one host with one urgency. Each lane and each owner stores when it was
/// last served, as a number that only grows. An operation on one host takes logarithmic time in the number of waiters.
/// An operation on several hosts takes linear time in the number of hosts.
struct WaitingQueue<Waiter: Sendable>: Sendable {
  /// The place of a waiter in the queue. No value is used twice.
  struct Place: Sendable, Hashable {
    fileprivate let slot: Int
    fileprivate let number: UInt64
  }

  private struct Entry: Sendable {
    let number: UInt64
    let since: MonotonicInstant
    let host: Int
    let owner: Int
    let waiter: Waiter
    var priority: CallPriority
    var urgency: Int
    var lane: Int
  }

  /// The moment at which a waiter becomes more urgent. At equal moments the waiter that arrived first is first.
  private struct Birthday: Sendable, Comparable {
    let moment: Int64
    let number: UInt64

    static func < (left: Birthday, right: Birthday) -> Bool {
      (left.moment, left.number) < (right.moment, right.number)
    }
  }

  /// At most this many waiters become more urgent in one call of `age`, so that the lock is never held for long.
  static var agedAtOnce: Int { 256 }
  /// An empty queue keeps the memory of at most this many entries.
  private static var keptEmpty: Int { 1_024 }

  private var entries: [Entry?] = []
  private var freeEntries: [Int] = []
  private var lanePlaces: [Int] = []
  private var ages = SlotHeap<Birthday>()
  private var agePlaces: [Int] = []
  private var lanes = WaitingLanes()
  private var last: UInt64 = 0
  private var ageing: Int64?

  /// The number of waiters.
  private(set) var count = 0

  init(ageing: Duration?) { self.ageing = ageing.map(Self.nanoseconds) }

  /// The ageing interval in nanoseconds. At least 1, because waiting times are divided by it.
  private static func nanoseconds(_ ageing: Duration) -> Int64 { max(ageing.clampedNanoseconds, 1) }

  /// The number of waiters at a host.
  func count(at host: Int) -> Int { lanes.count(at: host) }

  /// The hosts that have waiters.
  var hosts: [Int] { lanes.hosts }

  /// Adds a waiter that arrives now.
  mutating func add(
    _ waiter: Waiter, host: Int, owner: UInt64?, _ priority: CallPriority, _ now: MonotonicInstant
  ) -> Place {
    age(now)
    last &+= 1
    let slot = freeSlot()
    let owner = lanes.owner(owner)
    entries[slot] = Entry(
      number: last, since: now, host: host, owner: owner, waiter: waiter, priority: priority,
      urgency: priority.urgency, lane: lanes.lane(host, owner, priority.urgency))
    count += 1
    join(slot)
    return Place(slot: slot, number: last)
  }

  /// Removes a waiter. Returns false if the waiter has already been admitted.
  mutating func leave(_ place: Place) -> Bool {
    guard isThere(place) else { return false }
    remove(place.slot)
    return true
  }

  /// Changes the priority of a waiter. The time that the waiter has already waited continues to count.
  mutating func change(_ place: Place, to priority: CallPriority, _ now: MonotonicInstant) {
    guard isThere(place) else { return }
    entries[place.slot]?.priority = priority
    age(place.slot, now)
  }

  /// Changes how fast waiters become more urgent.
  mutating func change(ageing: Duration?, _ now: MonotonicInstant) {
    let ageing = ageing.map(Self.nanoseconds)
    guard ageing != self.ageing else { return }
    self.ageing = ageing
    for slot in entries.indices where entries[slot] != nil { age(slot, now) }
  }

  /// Raises the urgency of waiters that have waited long enough.
  mutating func age(_ now: MonotonicInstant) {
    for _ in 0..<Self.agedAtOnce {
      guard let first = ages.first, first.key.moment <= now.nanoseconds else { return }
      age(first.slot, now)
    }
  }

  /// Removes and returns the next waiter at a host.
  mutating func takeNext(at host: Int) -> Waiter? {
    guard let lane = lanes.takeTurn(at: host) else { return nil }
    return takeFirst(of: lane)
  }

  /// Removes and returns the next waiter among some hosts.
  mutating func takeNext(among hosts: [Int]) -> (waiter: Waiter, host: Int)? {
    guard let lane = lanes.takeTurn(among: hosts) else { return nil }
    let host = lanes.host(of: lane)
    return takeFirst(of: lane).map { ($0, host) }
  }

  private mutating func takeFirst(of lane: Int) -> Waiter? {
    guard let slot = lanes.first(of: lane) else { return nil }
    let waiter = entries[slot]?.waiter
    remove(slot)
    return waiter
  }

  // MARK: - Entries

  private func isThere(_ place: Place) -> Bool {
    place.slot < entries.count && entries[place.slot]?.number == place.number
  }

  private mutating func freeSlot() -> Int {
    if let slot = freeEntries.popLast() { return slot }
    entries.append(nil)
    lanePlaces.append(SlotHeap<UInt64>.nowhere)
    agePlaces.append(SlotHeap<Birthday>.nowhere)
    return entries.count - 1
  }

  private mutating func join(_ slot: Int) {
    guard let entry = entries[slot] else { return }
    lanes.insert(slot, entry.number, into: entry.lane, &lanePlaces)
    if let moment = birthday(of: entry) {
      ages.insert(slot, Birthday(moment: moment, number: entry.number), &agePlaces)
    }
  }

  private mutating func remove(_ slot: Int) {
    guard let entry = entries[slot] else { return }
    if agePlaces[slot] != SlotHeap<Birthday>.nowhere { ages.remove(slot, &agePlaces) }
    lanes.remove(slot, from: entry.lane, &lanePlaces)
    lanes.dropIfEmpty(entry.lane)
    entries[slot] = nil
    freeEntries.append(slot)
    count -= 1
    if count == 0, entries.count > Self.keptEmpty { forget() }
  }

  /// Releases the memory of a queue that was long.
  private mutating func forget() {
    entries = []
    freeEntries = []
    lanePlaces = []
    agePlaces = []
    lanes.forget()
  }

  /// Moves a waiter to the lane of its present urgency. The new lane is made before the old lane is removed. In the
  /// opposite order an owner without another lane would be removed, and then be the last in the order.
  private mutating func age(_ slot: Int, _ now: MonotonicInstant) {
    guard var entry = entries[slot] else { return }
    if agePlaces[slot] != SlotHeap<Birthday>.nowhere { ages.remove(slot, &agePlaces) }
    let former = entry.lane
    lanes.remove(slot, from: former, &lanePlaces)
    entry.urgency = urgency(of: entry, now)
    entry.lane = lanes.lane(entry.host, entry.owner, entry.urgency)
    entries[slot] = entry
    join(slot)
    lanes.dropIfEmpty(former)
  }

  // MARK: - Ageing

  private func urgency(of entry: Entry, _ now: MonotonicInstant) -> Int {
    guard let ageing else { return entry.priority.urgency }
    let waited = max(entry.since.duration(to: now).clampedNanoseconds, 0)
    let steps = Int(clamping: min(waited / ageing, Int64(CallPriority.high.urgency)))
    return min(entry.priority.urgency + steps, CallPriority.high.urgency)
  }

  /// The moment at which a waiter becomes one step more urgent; nil for never.
  private func birthday(of entry: Entry) -> Int64? {
    guard let ageing, entry.urgency < CallPriority.high.urgency else { return nil }
    let steps = Int64(clamping: entry.urgency + 1 - entry.priority.urgency)
    let (wait, isTooLong) = ageing.multipliedReportingOverflow(by: steps)
    let (moment, isTooLate) = entry.since.nanoseconds.addingReportingOverflow(wait)
    return isTooLong || isTooLate ? nil : moment
  }
}

extension CallPriority {
  /// The initial urgency of a call of this priority, counted from zero.
  var urgency: Int { rawValue - CallPriority.low.rawValue }
}
