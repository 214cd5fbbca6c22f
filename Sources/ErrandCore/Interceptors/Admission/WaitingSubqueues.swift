import ErrandSupport

/// The waiting calls of a ``WaitingQueue``, grouped into *subqueues*, and the order in which subqueues and owners are
/// served.
///
/// A subqueue contains the waiting calls of one owner at one host with one urgency.
struct WaitingSubqueues: Sendable {
  private struct Name: Sendable, Hashable {
    let host: Int
    let owner: Int
    let urgency: Int
  }

  private struct Subqueue: Sendable {
    let name: Name
    var members = SlotHeap<UInt64>()
  }

  private struct Owner: Sendable {
    let number: UInt64?
    /// The value that the counter `turn` had when the owner was last served in the order over all hosts, or when the
    /// owner was added. The counter increases each time an owner or a subqueue is added or served.
    var turn: UInt64
    var subqueues = 0
  }

  /// The subqueues of one urgency at one host, in two orders. The order `bySubqueue` depends on when each subqueue was
  /// last served. The order `byOwner` depends on when the owner of each subqueue was last served in the order over all
  /// hosts. When an owner is served in that order, `byOwner` becomes outdated at all hosts. To save work, `byOwner` is
  /// corrected only when it is read.
  private struct UrgencyLevel: Sendable {
    var bySubqueue = SlotHeap<UInt64>()
    var byOwner = SlotHeap<UInt64>()
  }

  private static var urgencies: Int { CallPriority.allCases.count }

  private var levels: [UrgencyLevel] = []
  private var counts: [Int] = []
  private var subqueues: [Subqueue?] = []
  private var freeSubqueues: [Int] = []
  private var subqueuesByName: [Name: Int] = [:]
  private var placesBySubqueue: [Int] = []
  private var placesByOwner: [Int] = []
  private var owners: [Owner?] = []
  private var freeOwners: [Int] = []
  private var ownersByNumber: [UInt64?: Int] = [:]
  private var turn: UInt64 = 0

  func count(at host: Int) -> Int { host < counts.count ? counts[host] : 0 }

  var hosts: [Int] { counts.indices.filter { counts[$0] > 0 } }

  func host(of subqueue: Int) -> Int { subqueues[subqueue]?.name.host ?? 0 }

  func first(of subqueue: Int) -> Int? { subqueues[subqueue]?.members.first?.slot }

  // MARK: - Turns

  /// Returns the subqueue that is served next at a host; nil if no call waits for the host. The returned subqueue
  /// becomes the last in the order of the host.
  mutating func takeTurn(at host: Int) -> Int? {
    guard count(at: host) > 0 else { return nil }
    for level in levels(of: host) {
      guard let subqueue = levels[level].bySubqueue.first?.slot else { continue }
      passTurn(of: subqueue, on: level)
      return subqueue
    }
    return nil
  }

  /// Returns the subqueue that is served next among the given hosts; nil if no call waits for them. The most urgent
  /// calls come first, then the calls of the owner that was served least recently, then the call that arrived first.
  /// The owner of the returned subqueue becomes the last in the order over all hosts.
  mutating func takeTurn(among hosts: [Int]) -> Int? {
    for urgency in (0..<Self.urgencies).reversed() {
      guard let subqueue = nextSubqueue(among: hosts, urgency), let name = subqueues[subqueue]?.name else { continue }
      turn &+= 1
      owners[name.owner]?.turn = turn
      passTurn(of: subqueue, on: level(name))
      return subqueue
    }
    return nil
  }

  private mutating func nextSubqueue(among hosts: [Int], _ urgency: Int) -> Int? {
    var best: (turn: UInt64, number: UInt64, subqueue: Int)?
    for host in hosts where count(at: host) > 0 {
      guard let (turn, subqueue) = nextByOwner(on: host * Self.urgencies + urgency),
        let number = subqueues[subqueue]?.members.first?.key
      else { continue }
      if let found = best, (found.turn, found.number) < (turn, number) { continue }
      best = (turn, number, subqueue)
    }
    return best?.subqueue
  }

  /// Of the subqueues of one host with one urgency, the one whose owner was served least recently, and the value that
  /// the counter `turn` had when that owner was last served.
  private mutating func nextByOwner(on level: Int) -> (turn: UInt64, subqueue: Int)? {
    while let first = levels[level].byOwner.first {
      guard let owner = subqueues[first.slot]?.name.owner, let turn = owners[owner]?.turn, turn != first.key else {
        return (first.key, first.slot)
      }
      levels[level].byOwner.move(first.slot, to: turn, &placesByOwner)
    }
    return nil
  }

  private mutating func passTurn(of subqueue: Int, on level: Int) {
    turn &+= 1
    levels[level].bySubqueue.move(subqueue, to: turn, &placesBySubqueue)
  }

  private func level(_ name: Name) -> Int { name.host * Self.urgencies + name.urgency }

  /// Returns the indices of the elements of the array `levels` that belong to a host. The index of the most urgent
  /// level is the first.
  private func levels(of host: Int) -> ReversedCollection<Range<Int>> {
    (host * Self.urgencies..<(host + 1) * Self.urgencies).reversed()
  }

  // MARK: - Members

  mutating func insert(_ slot: Int, _ number: UInt64, into subqueue: Int, _ places: inout [Int]) {
    guard let host = subqueues[subqueue]?.name.host else { return }
    subqueues[subqueue]?.members.insert(slot, number, &places)
    counts[host] += 1
  }

  mutating func remove(_ slot: Int, from subqueue: Int, _ places: inout [Int]) {
    guard let host = subqueues[subqueue]?.name.host else { return }
    subqueues[subqueue]?.members.remove(slot, &places)
    counts[host] -= 1
  }

  // MARK: - Subqueues and owners

  /// Returns the subqueue for the waiting calls of an owner at a host with one urgency; adds the subqueue if necessary.
  /// A new subqueue is the last in the order of the host.
  mutating func subqueue(_ host: Int, _ owner: Int, _ urgency: Int) -> Int {
    let name = Name(host: host, owner: owner, urgency: urgency)
    if let known = subqueuesByName[name] { return known }
    while counts.count <= host {
      counts.append(0)
      for _ in 0..<Self.urgencies { levels.append(UrgencyLevel()) }
    }
    let subqueue = freeSubqueue()
    subqueues[subqueue] = Subqueue(name: name)
    subqueuesByName[name] = subqueue
    turn &+= 1
    owners[owner]?.subqueues += 1
    levels[level(name)].bySubqueue.insert(subqueue, turn, &placesBySubqueue)
    levels[level(name)].byOwner.insert(subqueue, owners[owner]?.turn ?? turn, &placesByOwner)
    return subqueue
  }

  mutating func dropIfEmpty(_ subqueue: Int) {
    guard let found = subqueues[subqueue], found.members.isEmpty else { return }
    levels[level(found.name)].bySubqueue.remove(subqueue, &placesBySubqueue)
    levels[level(found.name)].byOwner.remove(subqueue, &placesByOwner)
    subqueuesByName[found.name] = nil
    subqueues[subqueue] = nil
    freeSubqueues.append(subqueue)
    let owner = found.name.owner
    owners[owner]?.subqueues -= 1
    guard let left = owners[owner], left.subqueues == 0 else { return }
    ownersByNumber[left.number] = nil
    owners[owner] = nil
    freeOwners.append(owner)
  }

  /// Returns the index of an owner of waiting calls; adds the owner if necessary. A new owner is the last in the order
  /// over all hosts.
  mutating func owner(_ number: UInt64?) -> Int {
    if let known = ownersByNumber[number] { return known }
    turn &+= 1
    let made = Owner(number: number, turn: turn)
    let place: Int
    if let free = freeOwners.popLast() {
      place = free
      owners[free] = made
    } else {
      place = owners.count
      owners.append(made)
    }
    ownersByNumber[number] = place
    return place
  }

  private mutating func freeSubqueue() -> Int {
    if let subqueue = freeSubqueues.popLast() { return subqueue }
    subqueues.append(nil)
    placesBySubqueue.append(SlotHeap<UInt64>.nowhere)
    placesByOwner.append(SlotHeap<UInt64>.nowhere)
    return subqueues.count - 1
  }
}
