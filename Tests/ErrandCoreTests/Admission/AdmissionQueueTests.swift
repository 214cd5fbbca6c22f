@testable import ErrandCore
import Testing

/// The queue as a machine: every interleaving of a few callers, and each rule alone.
@Suite struct AdmissionQueueTests {
  typealias Queue = AdmissionQueue<Int>

  static let red = HTTPURL.Origin.test("http://red.example")
  static let blue = HTTPURL.Origin.test("http://blue.example")

  // MARK: - Every interleaving

  /// What one caller can do next.
  private enum Caller: Hashable { case outside, running, waiting, gone }

  private struct World {
    var queue: Queue
    var callers: [Caller] = [.outside, .outside, .outside]
    var tickets: [Queue.Ticket?] = [nil, nil, nil]
    var worlds = 0
  }

  @Test(arguments: [(1, 1), (2, 2), (2, 1), (1, 3)]) func `every order keeps the limits`(perHost: Int, total: Int) {
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
        next.tickets[index] = next.queue.enter(hosts[index], .normal, index)
        next.callers[index] = next.tickets[index] == nil ? .running : .waiting
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
        explore(released(index, refusing: false, world, hosts), hosts: hosts, limit: limit, &seen)
        explore(released(index, refusing: true, world, hosts), hosts: hosts, limit: limit, &seen)
      case .gone: break
      }
    }
  }

  /// The world after a slot came back. Where the first grant is refused, its slot goes to the next.
  private func released(_ index: Int, refusing: Bool, _ world: World, _ hosts: [HTTPURL.Origin]) -> World {
    var next = world
    next.callers[index] = .gone
    var host = hosts[index]
    var refuses = refusing
    while let granted = next.queue.release(host) {
      #expect(next.callers[granted.waiter] == .waiting)
      #expect(granted.host == hosts[granted.waiter])
      if let ticket = next.tickets[granted.waiter] {
        let isOut = next.queue.leave(ticket)
        #expect(!isOut, "who was let in has no place to give back")
      }
      if !refuses {
        next.callers[granted.waiter] = .running
        return next
      }
      refuses = false
      next.callers[granted.waiter] = .gone
      host = granted.host
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
      #expect(isHostFull || running.count >= limit.total, "nobody waits beside a free slot")
    }
  }

  // MARK: - One rule each

  @Test func `higher priority goes first`() {
    let queue = Held(Queue(limits: AdmissionLimits(perHost: 1)))
    #expect(queue.on { $0.tryEnter(Self.red) })
    for (waiter, priority) in [(1, CallPriority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
      #expect(queue.on { $0.enter(Self.red, priority, waiter) } != nil)
    }
    #expect((0..<5).map { _ in queue.on { $0.release(Self.red)?.waiter } } == [3, 5, 2, 4, 1])
    #expect(queue.on { $0.release(Self.red)?.waiter } == nil)
    #expect(queue.value.running == 0)
  }

  @Test func `total freed serves the best host`() {
    let queue = Held(Queue(limits: AdmissionLimits(perHost: 2, total: 2)))
    #expect(queue.on { $0.tryEnter(Self.red) && $0.tryEnter(Self.red) })
    #expect(queue.on { $0.enter(Self.red, .normal, 1) } != nil)
    #expect(queue.on { $0.enter(Self.blue, .high, 2) } != nil)
    let granted = queue.on { $0.release(Self.red) }
    #expect(granted?.waiter == 2)
    #expect(granted?.host == Self.blue)
    #expect(queue.on { $0.release(Self.red)?.waiter } == 1)
  }

  @Test func `full host gives way`() {
    let queue = Held(Queue(limits: AdmissionLimits(perHost: 1, total: 2)))
    #expect(queue.on { $0.tryEnter(Self.red) && $0.tryEnter(Self.blue) })
    #expect(queue.on { $0.enter(Self.red, .high, 1) } != nil)
    #expect(queue.on { $0.enter(Self.blue, .low, 2) } != nil)
    #expect(queue.on { $0.release(Self.blue)?.waiter } == 2, "red is full, whatever its priority")
  }

  @Test func `raised limits let waiters in`() {
    let queue = Held(Queue(limits: AdmissionLimits(perHost: 1)))
    #expect(queue.on { $0.tryEnter(Self.red) })
    for waiter in 1...3 { #expect(queue.on { $0.enter(Self.red, .normal, waiter) } != nil) }
    #expect(queue.on { $0.admitNext()?.waiter } == nil)
    queue.on { $0.limits = AdmissionLimits(perHost: 3) }
    #expect(queue.on { $0.admitNext()?.waiter } == 1)
    #expect(queue.on { $0.admitNext()?.waiter } == 2)
    #expect(queue.on { $0.admitNext()?.waiter } == nil)
    #expect(queue.value.waiting == 1)
  }

  @Test func `lowered limits drain first`() {
    let queue = Held(Queue(limits: AdmissionLimits(perHost: 3)))
    for _ in 0..<3 { #expect(queue.on { $0.tryEnter(Self.red) }) }
    queue.on { $0.limits = AdmissionLimits(perHost: 1) }
    #expect(queue.on { $0.enter(Self.red, .normal, 1) } != nil)
    #expect(queue.on { $0.release(Self.red)?.waiter } == nil)
    #expect(queue.on { $0.release(Self.red)?.waiter } == nil)
    #expect(queue.on { $0.release(Self.red)?.waiter } == 1)
  }

  @Test func `limits below one count as one`() {
    let limits = AdmissionLimits(perHost: 0, total: -3)
    #expect(limits.perHost == 1)
    #expect(limits.total == 1)
  }

  @Test func `limits set to nothing still admit`() {
    var limits = AdmissionLimits()
    limits.perHost = 0
    limits.total = 0
    #expect(Held(Queue(limits: limits)).on { $0.tryEnter(Self.red) }, "a limit of none would hold every call for ever")
  }
}

extension HTTPURL.Origin {
  static func test(_ url: String) -> HTTPURL.Origin {
    guard let origin = try? HTTPURL(url).origin else { preconditionFailure("no URL: \(url)") }
    return origin
  }
}
