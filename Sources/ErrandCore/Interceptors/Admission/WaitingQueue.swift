import ErrandSupport

/// The waiting calls (*waiters*) of an admission queue. The type selects the waiter that is admitted next at one host
/// or among several hosts.
///
/// The most urgent waiters are first. Each time a waiter has waited for the duration `ageing`, it becomes one step more
/// urgent, up to the highest priority. Owners with equally urgent waiters take turns. Waiters of one owner are served
/// in their order of arrival.
///
/// The owners take turns in several orders: one order for each host, and one order over all hosts. The order of a host
/// applies if only the limit of that host delays the waiters. The order over all hosts applies if the total limit
/// delays the waiters. With a single order, an owner that is often served at one host would never be the next at
/// another host.
///
/// A *subqueue* contains the waiters of one owner at one host with one urgency. A counter increases each time a waiter
/// is served. Each subqueue and each owner stores the value that the counter had when the subqueue or the owner was
/// last served. An operation on one host takes logarithmic time in the number of waiters. An operation on several hosts
/// takes linear time in the number of hosts.
struct WaitingQueue<Waiter: Sendable>: Sendable {
  /// Identifies a waiting call in the queue. No value is used twice.
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
    var subqueue: Int
  }

  /// The moment at which a waiting call becomes more urgent, and the number of the call. If the moments of two calls
  /// are equal, the call that arrived first is the first in the order.
  private struct PromotionTime: Sendable, Comparable {
    let moment: Int64
    let number: UInt64

    static func < (left: PromotionTime, right: PromotionTime) -> Bool {
      (left.moment, left.number) < (right.moment, right.number)
    }
  }

  /// The largest number of waiting calls whose urgency one execution of `age` raises. The caller of `age` holds a lock,
  /// so one execution must be short.
  static var agedAtOnce: Int { 256 }
  /// The number of stored entries, used and unused, above which the queue releases its memory when no call waits.
  private static var keptEmpty: Int { 1_024 }

  private var entries: [Entry?] = []
  private var freeEntries: [Int] = []
  private var subqueuePlaces: [Int] = []
  private var promotions = SlotHeap<PromotionTime>()
  private var promotionPlaces: [Int] = []
  private var subqueues = WaitingSubqueues()
  private var last: UInt64 = 0
  private var ageing: Int64?

  private(set) var count = 0

  init(ageing: Duration?) { self.ageing = ageing.map(Self.nanoseconds) }

  /// The ageing interval in nanoseconds. The interval is at least 1, because waiting times are divided by the interval.
  private static func nanoseconds(_ ageing: Duration) -> Int64 { max(ageing.clampedNanoseconds, 1) }

  func count(at host: Int) -> Int { subqueues.count(at: host) }

  var hosts: [Int] { subqueues.hosts }

  mutating func add(
    _ waiter: Waiter, host: Int, owner: UInt64?, _ priority: CallPriority, _ now: MonotonicInstant
  ) -> Place {
    age(now)
    last &+= 1
    let slot = freeSlot()
    let owner = subqueues.owner(owner)
    entries[slot] = Entry(
      number: last, since: now, host: host, owner: owner, waiter: waiter, priority: priority,
      urgency: priority.urgency, subqueue: subqueues.subqueue(host, owner, priority.urgency))
    count += 1
    join(slot)
    return Place(slot: slot, number: last)
  }

  /// Removes a waiting call. Returns false if the call has already been admitted.
  mutating func leave(_ place: Place) -> Bool {
    guard isThere(place) else { return false }
    remove(place.slot)
    return true
  }

  /// Changes the priority of a waiting call. The time that the call has already waited continues to count.
  mutating func change(_ place: Place, to priority: CallPriority, _ now: MonotonicInstant) {
    guard isThere(place) else { return }
    entries[place.slot]?.priority = priority
    age(place.slot, now)
  }

  /// Changes how fast waiting calls become more urgent. If `ageing` is nil, their urgency does not rise.
  mutating func change(ageing: Duration?, _ now: MonotonicInstant) {
    let ageing = ageing.map(Self.nanoseconds)
    guard ageing != self.ageing else { return }
    self.ageing = ageing
    for slot in entries.indices where entries[slot] != nil { age(slot, now) }
  }

  /// Raises the urgency of the calls that have waited long enough.
  mutating func age(_ now: MonotonicInstant) {
    for _ in 0..<Self.agedAtOnce {
      guard let first = promotions.first, first.key.moment <= now.nanoseconds else { return }
      age(first.slot, now)
    }
  }

  mutating func takeNext(at host: Int) -> Waiter? {
    guard let subqueue = subqueues.takeTurn(at: host) else { return nil }
    return takeFirst(of: subqueue)
  }

  /// Removes and returns the waiting call that is next among the given hosts, and its host.
  mutating func takeNext(among hosts: [Int]) -> (waiter: Waiter, host: Int)? {
    guard let subqueue = subqueues.takeTurn(among: hosts) else { return nil }
    let host = subqueues.host(of: subqueue)
    return takeFirst(of: subqueue).map { ($0, host) }
  }

  private mutating func takeFirst(of subqueue: Int) -> Waiter? {
    guard let slot = subqueues.first(of: subqueue) else { return nil }
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
    subqueuePlaces.append(SlotHeap<UInt64>.nowhere)
    promotionPlaces.append(SlotHeap<PromotionTime>.nowhere)
    return entries.count - 1
  }

  private mutating func join(_ slot: Int) {
    guard let entry = entries[slot] else { return }
    subqueues.insert(slot, entry.number, into: entry.subqueue, &subqueuePlaces)
    if let moment = promotionTime(of: entry) {
      promotions.insert(slot, PromotionTime(moment: moment, number: entry.number), &promotionPlaces)
    }
  }

  private mutating func remove(_ slot: Int) {
    guard let entry = entries[slot] else { return }
    if promotionPlaces[slot] != SlotHeap<PromotionTime>.nowhere { promotions.remove(slot, &promotionPlaces) }
    subqueues.remove(slot, from: entry.subqueue, &subqueuePlaces)
    subqueues.dropIfEmpty(entry.subqueue)
    entries[slot] = nil
    freeEntries.append(slot)
    count -= 1
    if count == 0, entries.count > Self.keptEmpty { forget() }
  }

  /// Releases the memory of all arrays. No call may be waiting.
  private mutating func forget() {
    entries = []
    freeEntries = []
    subqueuePlaces = []
    promotionPlaces = []
    subqueues = WaitingSubqueues()
  }

  /// Updates the urgency of a waiting call, and moves the call to the subqueue (the waiting calls of one owner with
  /// equal urgency) for the new urgency. The new subqueue is added before the old subqueue is removed, because an owner
  /// without a subqueue would be removed and would lose its turn.
  private mutating func age(_ slot: Int, _ now: MonotonicInstant) {
    guard var entry = entries[slot] else { return }
    if promotionPlaces[slot] != SlotHeap<PromotionTime>.nowhere { promotions.remove(slot, &promotionPlaces) }
    let former = entry.subqueue
    subqueues.remove(slot, from: former, &subqueuePlaces)
    entry.urgency = urgency(of: entry, now)
    entry.subqueue = subqueues.subqueue(entry.host, entry.owner, entry.urgency)
    entries[slot] = entry
    join(slot)
    subqueues.dropIfEmpty(former)
  }

  // MARK: - Ageing

  private func urgency(of entry: Entry, _ now: MonotonicInstant) -> Int {
    guard let ageing else { return entry.priority.urgency }
    let waited = max(entry.since.duration(to: now).clampedNanoseconds, 0)
    let steps = Int(clamping: min(waited / ageing, Int64(CallPriority.high.urgency)))
    return min(entry.priority.urgency + steps, CallPriority.high.urgency)
  }

  /// The moment at which a waiting call becomes one step more urgent; nil if the urgency of the call does not rise.
  private func promotionTime(of entry: Entry) -> Int64? {
    guard let ageing, entry.urgency < CallPriority.high.urgency else { return nil }
    let steps = Int64(clamping: entry.urgency + 1 - entry.priority.urgency)
    let (wait, isTooLong) = ageing.multipliedReportingOverflow(by: steps)
    let (moment, isTooLate) = entry.since.nanoseconds.addingReportingOverflow(wait)
    return isTooLong || isTooLate ? nil : moment
  }
}

extension CallPriority {
  /// The initial urgency of a call of this priority. The lowest urgency is zero.
  var urgency: Int { rawValue - CallPriority.low.rawValue }
}
