/// Who may go on and who waits: a state machine without I/O.
///
/// The best waiter is the one with the highest priority, then the longest wait, whose host has room.
struct AdmissionQueue<Waiter: Sendable>: Sendable {
  /// A place in the queue.
  struct Ticket: Sendable, Hashable {
    fileprivate let host: HTTPURL.Origin
    fileprivate let number: UInt64
  }

  private struct Entry: Sendable {
    let number: UInt64
    let priority: CallPriority
    let waiter: Waiter
  }

  private struct Host: Sendable {
    var running = 0
    var waiting: [Entry] = []

    mutating func tryEnter(_ limit: Int) -> Bool {
      guard running < limit else { return false }
      running += 1
      return true
    }

    /// Behind those that are as urgent. In place: a copy of a long queue for each that enters would cost its square.
    mutating func add(_ entry: Entry) {
      let place = waiting.firstIndex { $0.priority < entry.priority } ?? waiting.endIndex
      waiting.insert(entry, at: place)
    }
  }

  /// How many hosts without a call are remembered, so that calls in a row need not look for room each time.
  private static var idleHosts: Int { 64 }

  var limits: AdmissionLimits
  private var hosts: [HTTPURL.Origin: Host] = [:]
  private(set) var running = 0
  private(set) var waiting = 0
  private var last: UInt64 = 0

  init(limits: AdmissionLimits) { self.limits = limits }

  /// Takes a slot if one is free.
  mutating func tryEnter(_ host: HTTPURL.Origin) -> Bool {
    guard running < limits.total, hosts[host, default: Host()].tryEnter(limits.perHost) else { return false }
    running += 1
    return true
  }

  /// Takes a slot, or a place in the queue.
  mutating func enter(_ host: HTTPURL.Origin, _ priority: CallPriority, _ waiter: Waiter) -> Ticket? {
    if tryEnter(host) { return nil }
    last &+= 1
    let entry = Entry(number: last, priority: priority, waiter: waiter)
    hosts[host, default: Host()].add(entry)
    waiting += 1
    return Ticket(host: host, number: last)
  }

  /// Gives a place in the queue back. False when the waiter was let in before.
  @discardableResult
  mutating func leave(_ ticket: Ticket) -> Bool {
    guard let place = hosts[ticket.host]?.waiting.firstIndex(where: { $0.number == ticket.number }) else {
      return false
    }
    hosts[ticket.host]?.waiting.remove(at: place)
    waiting -= 1
    return true
  }

  /// Gives a slot back. Returns the waiter that has it now; where that one refuses, its slot is released again.
  mutating func release(_ host: HTTPURL.Origin) -> (waiter: Waiter, host: HTTPURL.Origin)? {
    running = max(0, running - 1)
    hosts[host, default: Host()].running -= 1
    defer { tidy() }
    return waiting > 0 ? admitNext() : nil
  }

  /// Lets in whoever fits now; for limits that were raised.
  mutating func admitNext() -> (waiter: Waiter, host: HTTPURL.Origin)? {
    guard waiting > 0, running < limits.total, let chosen = best() else { return nil }
    guard let entry = hosts[chosen]?.waiting.removeFirst() else { return nil }
    waiting -= 1
    running += 1
    hosts[chosen]?.running += 1
    return (entry.waiter, chosen)
  }

  /// The host whose first waiter comes next.
  private func best() -> HTTPURL.Origin? {
    var best: (host: HTTPURL.Origin, entry: Entry)?
    for (candidate, state) in hosts where state.running < limits.perHost {
      guard let entry = state.waiting.first else { continue }
      if let found = best {
        let isBetter =
          entry.priority > found.entry.priority
          || entry.priority == found.entry.priority && entry.number < found.entry.number
        if !isBetter { continue }
      }
      best = (candidate, entry)
    }
    return best?.host
  }

  private mutating func tidy() {
    guard hosts.count > Self.idleHosts else { return }
    hosts = hosts.filter { $0.value.running > 0 || !$0.value.waiting.isEmpty }
  }
}
