import ErrandSupport

/// The waiting calls of a ``WaitingQueue``, grouped into *lanes*, and the order in which lanes and owners are served.
///
/// A lane contains the waiting calls of one owner at one host with one urgency.
struct WaitingLanes: Sendable {
  private struct Name: Sendable, Hashable {
    let host: Int
    let owner: Int
    let urgency: Int
  }

  private struct Lane: Sendable {
    let name: Name
    var members = SlotHeap<UInt64>()
  }

  private struct Owner: Sendable {
    let number: UInt64?
    /// When the owner was last served in the order over all hosts, or when it was added. The value of a counter.
    var turn: UInt64
    var lanes = 0
  }

  /// The lanes of one urgency at one host, in two orders: by when the lane was last served, and by when its owner was
  /// last served at any host. When an owner is served, the second order changes at every host. So the second order is
  /// updated only when it is read.
  private struct Shelf: Sendable {
    var byLane = SlotHeap<UInt64>()
    var byOwner = SlotHeap<UInt64>()
  }

  private static var urgencies: Int { CallPriority.allCases.count }

  private var shelves: [Shelf] = []
  private var counts: [Int] = []
  private var lanes: [Lane?] = []
  private var freeLanes: [Int] = []
  private var lanesByName: [Name: Int] = [:]
  private var placesByLane: [Int] = []
  private var placesByOwner: [Int] = []
  private var owners: [Owner?] = []
  private var freeOwners: [Int] = []
  private var ownersByNumber: [UInt64?: Int] = [:]
  private var turn: UInt64 = 0

  /// The number of waiting calls at a host.
  func count(at host: Int) -> Int { host < counts.count ? counts[host] : 0 }

  /// The hosts that have waiting calls.
  var hosts: [Int] { counts.indices.filter { counts[$0] > 0 } }

  /// The host of a lane.
  func host(of lane: Int) -> Int { lanes[lane]?.name.host ?? 0 }

  /// The index of the first waiting call in a lane.
  func first(of lane: Int) -> Int? { lanes[lane]?.members.first?.slot }

  // MARK: - Turns

  /// Returns the lane that is served next at a host, and moves the lane to the end of the order. Nil if no call waits
  /// there.
  mutating func takeTurn(at host: Int) -> Int? {
    guard count(at: host) > 0 else { return nil }
    for shelf in shelves(of: host) {
      guard let lane = shelves[shelf].byLane.first?.slot else { continue }
      passTurn(of: lane, on: shelf)
      return lane
    }
    return nil
  }

  /// Selects the owner that is served next among some hosts, and moves the owner to the end of the order. Returns the
  /// lane of this owner whose first call arrived earliest.
  mutating func takeTurn(among hosts: [Int]) -> Int? {
    for urgency in (0..<Self.urgencies).reversed() {
      guard let lane = nextLane(among: hosts, urgency), let name = lanes[lane]?.name else { continue }
      turn &+= 1
      owners[name.owner]?.turn = turn
      passTurn(of: lane, on: shelf(name))
      return lane
    }
    return nil
  }

  private mutating func nextLane(among hosts: [Int], _ urgency: Int) -> Int? {
    var best: (turn: UInt64, number: UInt64, lane: Int)?
    for host in hosts where count(at: host) > 0 {
      guard let (turn, lane) = nextByOwner(on: host * Self.urgencies + urgency),
        let number = lanes[lane]?.members.first?.key
      else { continue }
      if let found = best, (found.turn, found.number) < (turn, number) { continue }
      best = (turn, number, lane)
    }
    return best?.lane
  }

  /// The lane whose owner was served least recently, and when that was.
  private mutating func nextByOwner(on shelf: Int) -> (turn: UInt64, lane: Int)? {
    while let first = shelves[shelf].byOwner.first {
      guard let owner = lanes[first.slot]?.name.owner, let turn = owners[owner]?.turn, turn != first.key else {
        return (first.key, first.slot)
      }
      shelves[shelf].byOwner.move(first.slot, to: turn, &placesByOwner)
    }
    return nil
  }

  private mutating func passTurn(of lane: Int, on shelf: Int) {
    turn &+= 1
    shelves[shelf].byLane.move(lane, to: turn, &placesByLane)
  }

  private func shelf(_ name: Name) -> Int { name.host * Self.urgencies + name.urgency }

  /// The indices in `shelves` that belong to a host, the most urgent first.
  private func shelves(of host: Int) -> ReversedCollection<Range<Int>> {
    (host * Self.urgencies..<(host + 1) * Self.urgencies).reversed()
  }

  // MARK: - Members

  mutating func insert(_ slot: Int, _ number: UInt64, into lane: Int, _ places: inout [Int]) {
    guard let host = lanes[lane]?.name.host else { return }
    lanes[lane]?.members.insert(slot, number, &places)
    counts[host] += 1
  }

  mutating func remove(_ slot: Int, from lane: Int, _ places: inout [Int]) {
    guard let host = lanes[lane]?.name.host else { return }
    lanes[lane]?.members.remove(slot, &places)
    counts[host] -= 1
  }

  // MARK: - Lanes and owners

  /// The lane of an owner at a host with one urgency. A new lane is the last in the order of the host.
  mutating func lane(_ host: Int, _ owner: Int, _ urgency: Int) -> Int {
    let name = Name(host: host, owner: owner, urgency: urgency)
    if let known = lanesByName[name] { return known }
    while counts.count <= host {
      counts.append(0)
      for _ in 0..<Self.urgencies { shelves.append(Shelf()) }
    }
    let lane = freeLane()
    lanes[lane] = Lane(name: name)
    lanesByName[name] = lane
    turn &+= 1
    owners[owner]?.lanes += 1
    shelves[shelf(name)].byLane.insert(lane, turn, &placesByLane)
    shelves[shelf(name)].byOwner.insert(lane, owners[owner]?.turn ?? turn, &placesByOwner)
    return lane
  }

  /// Removes a lane if no call waits in it. Also removes the owner of the lane if the owner has no other lane.
  mutating func dropIfEmpty(_ lane: Int) {
    guard let found = lanes[lane], found.members.isEmpty else { return }
    shelves[shelf(found.name)].byLane.remove(lane, &placesByLane)
    shelves[shelf(found.name)].byOwner.remove(lane, &placesByOwner)
    lanesByName[found.name] = nil
    lanes[lane] = nil
    freeLanes.append(lane)
    let owner = found.name.owner
    owners[owner]?.lanes -= 1
    guard let left = owners[owner], left.lanes == 0 else { return }
    ownersByNumber[left.number] = nil
    owners[owner] = nil
    freeOwners.append(owner)
  }

  /// The index of an owner. A new owner is the last in the order.
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

  /// Releases the memory of all lanes and owners. No lane and no owner may be in use.
  mutating func forget() {
    lanes = []
    freeLanes = []
    lanesByName = [:]
    placesByLane = []
    placesByOwner = []
    owners = []
    freeOwners = []
    ownersByNumber = [:]
    shelves = []
    counts = []
  }

  private mutating func freeLane() -> Int {
    if let lane = freeLanes.popLast() { return lane }
    lanes.append(nil)
    placesByLane.append(SlotHeap<UInt64>.nowhere)
    placesByOwner.append(SlotHeap<UInt64>.nowhere)
    return lanes.count - 1
  }
}
