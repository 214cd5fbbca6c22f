@testable import ErrandCore

/// The rules of ``AdmissionQueue``, implemented by searching lists. The queue must agree with this model.
struct NaiveQueue {
  struct Waiter {
    let name: Int
    let host: Int
    let owner: UInt64?
    let since: Int
    var priority: CallPriority
    var urgency: Int
  }

  struct Subqueue: Hashable {
    let host: Int
    let owner: UInt64?
    let urgency: Int
  }

  let perHost: Int
  let total: Int
  /// The ageing interval in seconds.
  let ageing: Int
  var running: [Int: Int] = [:]
  /// In order of arrival.
  var waiters: [Waiter] = []
  private var subqueueTurns: [Subqueue: Int] = [:]
  private var ownerTurns: [UInt64?: Int] = [:]
  private var turn = 0

  init(perHost: Int, total: Int, ageing: Int) {
    self.perHost = perHost
    self.total = total
    self.ageing = ageing
  }

  var runningInAll: Int { running.values.reduce(0, +) }

  func hasRoom(_ host: Int) -> Bool { running[host, default: 0] < perHost && runningInAll < total }

  /// Returns true if the call runs immediately, false if it waits.
  mutating func enter(_ name: Int, _ host: Int, _ owner: UInt64?, _ priority: CallPriority, _ now: Int) -> Bool {
    if hasRoom(host) {
      running[host, default: 0] += 1
      return true
    }
    age(now)
    waiters.append(
      Waiter(name: name, host: host, owner: owner, since: now, priority: priority, urgency: priority.urgency))
    noteTurns()
    return false
  }

  mutating func leave(_ name: Int) {
    waiters.removeAll { $0.name == name }
    noteTurns()
  }

  mutating func change(_ name: Int, _ priority: CallPriority, _ now: Int) {
    guard let index = waiters.firstIndex(where: { $0.name == name }) else { return }
    waiters[index].priority = priority
    waiters[index].urgency = urgency(waiters[index], now)
    noteTurns()
  }

  mutating func release(_ host: Int, _ now: Int) -> Int? {
    let wasFull = runningInAll >= total
    running[host, default: 0] -= 1
    guard runningInAll < total, wasFull || hasRoom(host) else { return nil }
    age(now)
    let hosts = (wasFull ? Set(waiters.map(\.host)) : [host]).filter(hasRoom)
    let candidates = waiters.filter { hosts.contains($0.host) }
    let most = candidates.map(\.urgency).max()
    let urgent = candidates.filter { $0.urgency == most }
    let next = urgent.min { before($0, $1, overAll: wasFull) }
    guard let next else { return nil }
    turn += 1
    if wasFull { ownerTurns[next.owner] = turn }
    turn += 1
    subqueueTurns[subqueue(next)] = turn
    running[next.host, default: 0] += 1
    leave(next.name)
    return next.name
  }

  private func before(_ left: Waiter, _ right: Waiter, overAll: Bool) -> Bool {
    let (one, other) =
      overAll
      ? (ownerTurns[left.owner], ownerTurns[right.owner])
      : (subqueueTurns[subqueue(left)], subqueueTurns[subqueue(right)])
    return (one ?? 0, left.name) < (other ?? 0, right.name)
  }

  private func subqueue(_ waiter: Waiter) -> Subqueue {
    Subqueue(host: waiter.host, owner: waiter.owner, urgency: waiter.urgency)
  }

  private func urgency(_ waiter: Waiter, _ now: Int) -> Int {
    min(waiter.priority.urgency + (now - waiter.since) / ageing, 2)
  }

  /// Raises one waiter at a time, ordered by the moment of its rise, because each rise may create a subqueue.
  private mutating func age(_ now: Int) {
    while true {
      let due = waiters.indices.filter { urgency(waiters[$0], now) > waiters[$0].urgency }
      guard let first = due.min(by: { (promotionTime(waiters[$0]), $0) < (promotionTime(waiters[$1]), $1) }) else {
        return
      }
      waiters[first].urgency = urgency(waiters[first], now)
      noteTurns()
    }
  }

  private func promotionTime(_ waiter: Waiter) -> Int {
    waiter.since + ageing * (waiter.urgency + 1 - waiter.priority.urgency)
  }

  /// Adds new subqueues and owners at the end, and removes those without waiters.
  private mutating func noteTurns() {
    subqueueTurns = subqueueTurns.filter { turn in waiters.contains { subqueue($0) == turn.key } }
    ownerTurns = ownerTurns.filter { turn in waiters.contains { $0.owner == turn.key } }
    for waiter in waiters where ownerTurns[waiter.owner] == nil {
      turn += 1
      ownerTurns[waiter.owner] = turn
    }
    for waiter in waiters where subqueueTurns[subqueue(waiter)] == nil {
      turn += 1
      subqueueTurns[subqueue(waiter)] = turn
    }
  }
}
