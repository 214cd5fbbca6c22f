@testable import ErrandCore
import Testing

/// The queue as a state machine: every interleaving of a few callers, and each rule in a separate test.
struct AdmissionQueueTests {
  typealias Queue = AdmissionQueue<Int>

  static let red = HTTPURL.Origin.test("http://red.example")
  static let blue = HTTPURL.Origin.test("http://blue.example")

  // MARK: - Every interleaving

  /// The states of one caller.
  private enum Caller: Hashable { case outside, running, waiting, gone }

  private struct World {
    var queue: Queue
    var callers: [Caller] = [.outside, .outside, .outside]
    var tickets: [Queue.Ticket?] = [nil, nil, nil]
    var slots: [Queue.Slot?] = [nil, nil, nil]
  }

  @Test(arguments: [(1, 1), (2, 2), (2, 1), (1, 3)]) func `every interleaving respects the limits`(
    perHost: Int, total: Int
  ) {
    let world = World(queue: Queue(limits: AdmissionLimits(perHost: perHost, total: total)))
    var seen = 0
    explore(world, hosts: [Self.red, Self.blue, Self.red], limit: (perHost, total), &seen)
    #expect(seen > 100)
  }

  private func explore(_ world: World, hosts: [HTTPURL.Origin], limit: (Int, Int), _ seen: inout Int) {
    seen += 1
    check(world, hosts, limit)
    for index in world.callers.indices {
      switch world.callers[index] {
      case .outside:
        var next = world
        switch next.queue.enter(hosts[index], owner: nil, .normal, index, .start) {
        case .admitted(let slot):
          next.slots[index] = slot
          next.callers[index] = .running
        case .waits(let ticket):
          next.tickets[index] = ticket
          next.callers[index] = .waiting
        case .full: Issue.record("this queue has no length limit")
        }
        explore(next, hosts: hosts, limit: limit, &seen)
      case .waiting:
        var next = world
        if let ticket = next.tickets[index] {
          let isOut = next.queue.leave(ticket)
          #expect(isOut, "a waiter can always leave")
        }
        next.callers[index] = .gone
        explore(next, hosts: hosts, limit: limit, &seen)
      case .running:
        explore(released(index, refusing: false, world), hosts: hosts, limit: limit, &seen)
        explore(released(index, refusing: true, world), hosts: hosts, limit: limit, &seen)
      case .gone: break
      }
    }
  }

  /// The world after a slot is released. If the first admission is refused, its slot goes to the next waiter.
  private func released(_ index: Int, refusing: Bool, _ world: World) -> World {
    var next = world
    next.callers[index] = .gone
    guard var slot = next.slots[index] else { return world }
    var refuses = refusing
    while let admission = next.queue.release(slot, isUnused: slot != next.slots[index], .start) {
      #expect(next.callers[admission.waiter] == .waiting)
      if let ticket = next.tickets[admission.waiter] {
        #expect(admission.slot.host == ticket.host)
        let isOut = next.queue.leave(ticket)
        #expect(!isOut, "an admitted call holds no place in the queue")
      }
      next.slots[admission.waiter] = admission.slot
      if !refuses {
        next.callers[admission.waiter] = .running
        return next
      }
      refuses = false
      next.callers[admission.waiter] = .gone
      slot = admission.slot
    }
    return next
  }

  private func check(_ world: World, _ hosts: [HTTPURL.Origin], _ limit: (perHost: Int, total: Int)) {
    let running = world.callers.indices.filter { world.callers[$0] == .running }
    #expect(world.queue.running == running.count)
    #expect(world.queue.waiting == world.callers.count { $0 == .waiting })
    #expect(running.count <= limit.total)
    for host in Set(hosts) { #expect(running.count { hosts[$0] == host } <= limit.perHost) }
    for index in world.callers.indices where world.callers[index] == .waiting {
      let isHostFull = running.count { hosts[$0] == hosts[index] } >= limit.perHost
      #expect(isHostFull || running.count >= limit.total, "no call waits while a slot is free")
    }
  }

  // MARK: - One test for each rule

  @Test func `higher priority is admitted first`() {
    let queue = Bench(AdmissionLimits(perHost: 1))
    queue.run(Self.red)
    for (waiter, priority) in [(1, CallPriority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
      queue.wait(Self.red, waiter, priority)
    }
    #expect(queue.drain() == [3, 5, 2, 4, 1])
    #expect(queue.running == 0)
  }

  @Test func `freed total slot serves highest priority`() {
    let queue = Bench(AdmissionLimits(perHost: 2, total: 2))
    queue.run(Self.red, 2)
    queue.wait(Self.red, 1)
    queue.wait(Self.blue, 2, .high)
    #expect(queue.release(Self.red) == 2)
    #expect(queue.release(Self.red) == 1)
  }

  @Test func `full host is skipped`() {
    let queue = Bench(AdmissionLimits(perHost: 1, total: 2))
    queue.run(Self.red)
    queue.run(Self.blue)
    queue.wait(Self.red, 1, .high)
    queue.wait(Self.blue, 2, .low)
    #expect(queue.release(Self.blue) == 2, "red is full, whatever its priority")
  }

  @Test func `raised limits admit waiting calls`() {
    let queue = Bench(AdmissionLimits(perHost: 1))
    queue.run(Self.red)
    for waiter in 1...3 { queue.wait(Self.red, waiter) }
    #expect(queue.admitNext() == nil)
    queue.change(AdmissionLimits(perHost: 3))
    #expect([queue.admitNext(), queue.admitNext(), queue.admitNext()] == [1, 2, nil])
    #expect(queue.waiting == 1)
  }

  @Test func `lowered limits wait for running exchanges`() {
    let queue = Bench(AdmissionLimits(perHost: 3))
    queue.run(Self.red, 3)
    queue.change(AdmissionLimits(perHost: 1))
    queue.wait(Self.red, 1)
    #expect([queue.release(Self.red), queue.release(Self.red), queue.release(Self.red)] == [nil, nil, 1])
  }

  @Test func `full queue refuses a new call`() {
    let queue = Bench(AdmissionLimits(perHost: 1, waiting: 2))
    queue.run(Self.red)
    queue.wait(Self.red, 1, .low)
    queue.wait(Self.red, 2, .low)
    #expect(queue.isFull(for: Self.red, .high), "a high priority evicts no waiting call")
    #expect(queue.enters(Self.blue), "a call that need not wait ignores the queue length")
    queue.leave(1)
    queue.wait(Self.red, 3, .high)
    #expect(queue.isFull(for: Self.red, .high))
    #expect(queue.drain() == [3, 2])
  }

  @Test func `zero queue length refuses every waiter`() {
    let queue = Bench(AdmissionLimits(perHost: 1, waiting: 0))
    #expect(queue.enters(Self.red))
    #expect(queue.isFull(for: Self.red))
  }

  @Test func `host counts include all its origins`() {
    let queue = Bench(AdmissionLimits(perHost: 1))
    queue.run(Self.red)
    queue.run(.test("https://red.example"))
    queue.run(.test("http://red.example:8080"))
    queue.run(Self.blue)
    queue.wait(Self.red, 1)
    #expect(queue.counts(at: "red.example") == (3, 1))
    #expect(queue.counts(at: "blue.example") == (1, 0))
    #expect(queue.counts(at: "green.example") == (0, 0))
  }

  @Test func `idle hosts are removed`() {
    let queue = Bench(AdmissionLimits(perHost: 1, total: 1_000))
    queue.run(Self.red)
    queue.wait(Self.red, 1)
    for number in 0..<1_000 {
      queue.run(.test("http://h\(number).example"))
      #expect(queue.release(.test("http://h\(number).example")) == nil)
    }
    #expect(queue.placesInUse <= 65)
    #expect(queue.counts(at: "red.example") == (1, 1), "a host with waiting calls stays")
  }

  // MARK: - Limits

  @Test func `limits below one become one`() {
    let limits = AdmissionLimits(perHost: 0, total: -3, waiting: -1, ageing: .seconds(-1))
    #expect(limits == AdmissionLimits(perHost: 1, total: 1, waiting: 0, ageing: nil))
  }

  @Test func `limits of zero still admit calls`() {
    var limits = AdmissionLimits()
    limits.perHost = 0
    limits.total = 0
    limits.waiting = -7
    limits.ageing = .zero
    #expect(limits == AdmissionLimits(perHost: 1, total: 1, waiting: 0, ageing: nil))
    #expect(Bench(limits).enters(Self.red), "a limit of zero would block every call for ever")
  }
}

extension HTTPURL.Origin {
  static func test(_ url: String) -> HTTPURL.Origin {
    guard let origin = try? HTTPURL(url).origin else { preconditionFailure("no URL: \(url)") }
    return origin
  }
}

extension MonotonicInstant {
  /// The moment at which the clock of a pure test starts.
  static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

  static func after(_ duration: Duration) -> MonotonicInstant { start.advanced(by: duration) }
}
