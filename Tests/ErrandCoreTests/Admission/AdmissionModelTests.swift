@testable import ErrandCore
import ErrandTesting
import Testing

/// Compares the queue with a naive model in random scenarios.
struct AdmissionModelTests {
  private struct Scene {
    let origins = (0..<4).map { HTTPURL.Origin.test("http://h\($0).example") }
    var random: SeededNumbers
    var queue: AdmissionQueue<Int>
    var model: NaiveQueue
    var slots: [(host: Int, slot: AdmissionQueue<Int>.Slot)] = []
    var tickets: [Int: AdmissionQueue<Int>.Ticket] = [:]
    var hosts: [Int: Int] = [:]
    var seconds = 0
    var last = 0
    var admissions = 0

    var now: MonotonicInstant { .after(.seconds(seconds)) }

    init(seed: UInt64, perHost: Int, total: Int) {
      random = SeededNumbers(seed: seed)
      queue = AdmissionQueue(limits: AdmissionLimits(perHost: perHost, total: total, ageing: .seconds(5)))
      model = NaiveQueue(perHost: perHost, total: total, ageing: 5)
    }

    mutating func step() {
      switch random.next(below: 10) {
      case 0...3: enter()
      case 4...7: release()
      case 8: leaveOrChange()
      default: seconds += random.next(below: 4)
      }
      #expect(queue.running == model.runningInAll)
      #expect(queue.waiting == model.waiters.count)
      #expect(!model.waiters.contains { model.hasRoom($0.host) }, "no call waits while a slot is free")
    }

    private mutating func enter() {
      last += 1
      let host = random.next(below: origins.count)
      let owner = [nil, 1, 2, 3][random.next(below: 4)] as UInt64?
      let priority = CallPriority.allCases[random.next(below: 3)]
      let runs = model.enter(last, host, owner, priority, seconds)
      switch queue.enter(origins[host], owner: owner, priority, last, now) {
      case .admitted(let slot):
        #expect(runs)
        slots.append((host, slot))
      case .waits(let ticket):
        #expect(!runs)
        tickets[last] = ticket
        hosts[last] = host
      case .full: Issue.record("this queue has no length limit")
      }
    }

    private mutating func release() {
      guard !slots.isEmpty else { return }
      let (host, slot) = slots.remove(at: random.next(below: slots.count))
      let expected = model.release(host, seconds)
      let admission = queue.release(slot, now)
      #expect(admission?.waiter == expected)
      guard let admission, tickets[admission.waiter] != nil, let host = hosts[admission.waiter] else { return }
      admissions += 1
      slots.append((host, admission.slot))
      tickets[admission.waiter] = nil
    }

    private mutating func leaveOrChange() {
      guard !model.waiters.isEmpty else { return }
      let name = model.waiters[random.next(below: model.waiters.count)].name
      guard let ticket = tickets[name] else {
        Issue.record("\(name) waits without a ticket")
        return
      }
      if random.next(below: 2) == 0 {
        let isOut = queue.leave(ticket)
        #expect(isOut)
        model.leave(name)
        tickets[name] = nil
      } else {
        let priority = CallPriority.allCases[random.next(below: 3)]
        queue.change(ticket, to: priority, now)
        model.change(name, priority, seconds)
      }
    }
  }

  @Test(arguments: [(1, 2), (2, 3), (3, 100), (100, 2)], 0..<10)
  func `queue agrees with naive model`(limits: (perHost: Int, total: Int), seed: UInt64) {
    var scene = Scene(seed: seed, perHost: limits.perHost, total: limits.total)
    for _ in 0..<600 { scene.step() }
    #expect(scene.admissions > 10, "a scenario without waiting calls proves nothing")
  }
}
