@testable import ErrandCore
import Testing

/// A test bench for a queue: waiters are numbers, slots are stored by origin, and the clock changes only when a test
/// sets it.
final class Bench {
  typealias Queue = AdmissionQueue<Int>
  typealias Origin = HTTPURL.Origin

  private var queue: Queue
  private var slots: [Origin: [Queue.Slot]] = [:]
  private var origins: [Int: Origin] = [:]
  private var tickets: [Int: Queue.Ticket] = [:]
  var now = MonotonicInstant.start

  init(_ limits: AdmissionLimits) { queue = Queue(limits: limits) }

  var running: Int { queue.running }
  var waiting: Int { queue.waiting }
  var placesInUse: Int { queue.placesInUse }

  func counts(at host: String) -> (running: Int, waiting: Int) { queue.counts(at: host) }

  /// Starts exchanges that need not wait.
  func run(_ origin: Origin, _ count: Int = 1) {
    for _ in 0..<count where !enters(origin) { Issue.record("\(origin) has no free slot") }
  }

  /// Whether an exchange may start immediately; if so, it runs.
  func enters(_ origin: Origin) -> Bool {
    guard let slot = queue.tryEnter(origin) ?? queue.tryEnter(origin, now) else { return false }
    slots[origin, default: []].append(slot)
    return true
  }

  /// Adds a waiter to the queue, which must not admit it immediately.
  func wait(_ origin: Origin, _ waiter: Int, _ priority: CallPriority = .normal, owner: UInt64? = nil) {
    guard case .waits(let ticket) = queue.enter(origin, owner: owner, priority, waiter, now) else {
      Issue.record("\(waiter) does not wait")
      return
    }
    origins[waiter] = origin
    tickets[waiter] = ticket
  }

  /// Whether the queue is full for one more call.
  func isFull(for origin: Origin, _ priority: CallPriority = .normal) -> Bool {
    if case .full = queue.enter(origin, owner: nil, priority, 0, now) { true } else { false }
  }

  func leave(_ waiter: Int) {
    guard let ticket = tickets[waiter] else { return }
    let isOut = queue.leave(ticket)
    #expect(isOut)
  }

  func change(_ waiter: Int, to priority: CallPriority) {
    if let ticket = tickets[waiter] { queue.change(ticket, to: priority, now) }
  }

  func change(_ limits: AdmissionLimits) { queue.change(limits, now) }

  /// Ends one exchange at an origin. Returns the waiter that is admitted next.
  func release(_ origin: Origin, isUnused: Bool = false) -> Int? {
    guard let slot = slots[origin]?.popLast() else {
      Issue.record("nothing runs at \(origin)")
      return nil
    }
    return keep(queue.release(slot, isUnused: isUnused, now))
  }

  /// The waiter that is admitted next, or nil if none may start.
  func admitNext() -> Int? { keep(queue.admitNext(now)) }

  /// Admits the next waiter of one origin.
  func admitNext(at origin: Origin) -> Int? { place(origin).flatMap { keep(queue.admitNext(at: $0, now)) } }

  /// The time until a token is available for the waiters of an origin.
  func wake(at origin: Origin) -> Duration? {
    place(origin).flatMap { queue.wake(at: $0, now) }.map { now.duration(to: $0) }
  }

  /// Closes an origin at which an exchange runs.
  func close(_ origin: Origin, for duration: Duration) {
    learn(.closed(duration), from: origin)
  }

  /// Handles the response to the newest exchange of an origin, which continues to run.
  func learn(_ pace: ServerPace, from origin: Origin) {
    if let slot = slots[origin]?.last { queue.learn(pace, slot, since: now) }
  }

  /// Records that the response headers of the newest exchange of an origin have arrived.
  func respond(at origin: Origin) {
    guard var slot = slots[origin]?.popLast() else { return }
    queue.countAnswered(slot)
    slot.isAnswered = true
    slots[origin]?.append(slot)
  }

  /// Ends all running exchanges one after the other and returns the waiters that are admitted.
  func drain() -> [Int] {
    var order: [Int] = []
    while let origin = slots.first(where: { !$0.value.isEmpty })?.key {
      if let waiter = release(origin) { order.append(waiter) }
    }
    return order
  }

  private func keep(_ admission: Queue.Admission?) -> Int? {
    guard let admission, let origin = origins[admission.waiter] else { return nil }
    #expect(admission.slot.host == tickets[admission.waiter]?.host)
    slots[origin, default: []].append(admission.slot)
    return admission.waiter
  }

  private func place(_ origin: Origin) -> Int? {
    tickets.first { origins[$0.key] == origin }?.value.host ?? slots[origin]?.last?.host
  }
}

extension ServerPace.Limit {
  /// A policy with the given number of requests for the given time.
  static func rest(_ remaining: Int64, _ reset: Duration, of name: String = "a") -> Self {
    Self(policy: ServerPace.Policy(name: name, partition: nil), remaining: remaining, reset: reset)
  }
}
