import ErrandSupport

/// Those who wait for their turn: who is next, at one host or among several.
///
/// The most urgent go first. A waiter is one step more urgent for each `ageing` it has waited, up to the highest
/// priority. Among the equally urgent, owners take turns: at each host where that host alone holds them back, and over
/// all hosts where the limit in total does. The two are kept apart, or an owner that is served all the time at one host
/// would never have its turn at another. Within an owner the one who came first is next.
///
/// A *lane* is what one owner has waiting at one host with one urgency; lanes and owners keep their turn in numbers that
/// only grow. Every operation takes time in the logarithm of those who wait, one over several hosts in their number.
struct WaitingLine<Waiter: Sendable>: Sendable {
  /// A place in the line; never used twice.
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

  /// When a waiter becomes more urgent; of several at one moment, who came first.
  private struct Birthday: Sendable, Comparable {
    let moment: Int64
    let number: UInt64

    static func < (left: Birthday, right: Birthday) -> Bool {
      (left.moment, left.number) < (right.moment, right.number)
    }
  }

  /// How many become more urgent in one step at most, so that the lock round all this is never held for long.
  static var agedAtOnce: Int { 256 }
  /// How many entries an empty line keeps.
  private static var keptEmpty: Int { 1_024 }

  private var entries: [Entry?] = []
  private var freeEntries: [Int] = []
  private var lanePlaces: [Int] = []
  private var ages = SlotHeap<Birthday>()
  private var agePlaces: [Int] = []
  private var lanes = WaitingLanes()
  private var last: UInt64 = 0
  private var ageing: Int64?

  /// How many wait.
  private(set) var count = 0

  init(ageing: Duration?) { self.ageing = ageing.map(Self.nanoseconds) }

  /// Something is divided by it.
  private static func nanoseconds(_ ageing: Duration) -> Int64 { max(ageing.clampedNanoseconds, 1) }

  /// How many wait at a host.
  func count(at host: Int) -> Int { lanes.count(at: host) }

  /// The hosts where somebody waits.
  var hosts: [Int] { lanes.hosts }

  /// Takes up one who comes now.
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

  /// Lets one go who does not want to wait any more. False when it was let in before.
  mutating func leave(_ place: Place) -> Bool {
    guard isThere(place) else { return false }
    remove(place.slot)
    return true
  }

  /// Changes the priority of one who waits. What it has waited so far counts on.
  mutating func change(_ place: Place, to priority: CallPriority, _ now: MonotonicInstant) {
    guard isThere(place) else { return }
    entries[place.slot]?.priority = priority
    age(place.slot, now)
  }

  /// Changes how fast those who wait become more urgent.
  mutating func change(ageing: Duration?, _ now: MonotonicInstant) {
    let ageing = ageing.map(Self.nanoseconds)
    guard ageing != self.ageing else { return }
    self.ageing = ageing
    for slot in entries.indices where entries[slot] != nil { age(slot, now) }
  }

  /// Makes those more urgent who have waited long enough.
  mutating func age(_ now: MonotonicInstant) {
    for _ in 0..<Self.agedAtOnce {
      guard let first = ages.first, first.key.moment <= now.nanoseconds else { return }
      age(first.slot, now)
    }
  }

  /// Lets in whoever is next at a host.
  mutating func takeNext(at host: Int) -> Waiter? {
    guard let lane = lanes.takeTurn(at: host) else { return nil }
    return takeFirst(of: lane)
  }

  /// Lets in whoever is next among some hosts.
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

  /// Gives the memory of a long line back.
  private mutating func forget() {
    entries = []
    freeEntries = []
    lanePlaces = []
    agePlaces = []
    lanes.forget()
  }

  /// Puts a waiter where it belongs by now. It joins the new lane before the old one is dropped, or its owner would lose
  /// its turn.
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

  /// When a waiter is a step more urgent than now; nil for never.
  private func birthday(of entry: Entry) -> Int64? {
    guard let ageing, entry.urgency < CallPriority.high.urgency else { return nil }
    let steps = Int64(clamping: entry.urgency + 1 - entry.priority.urgency)
    let (wait, isTooLong) = ageing.multipliedReportingOverflow(by: steps)
    let (moment, isTooLate) = entry.since.nanoseconds.addingReportingOverflow(wait)
    return isTooLong || isTooLate ? nil : moment
  }
}

extension CallPriority {
  /// How urgent a call of this priority is when it comes, counted from zero.
  var urgency: Int { rawValue - CallPriority.low.rawValue }
}
