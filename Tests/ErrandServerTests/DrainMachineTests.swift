@testable import ErrandCore
import ErrandTesting
import Testing

struct DrainMachineTests {
  /// A machine with running calls, in a phase.
  private func machine(_ phase: DrainMachine.Phase, running: Int) -> DrainMachine {
    var machine = DrainMachine()
    for _ in 0..<max(running, 1) { _ = machine.enter(.own) }
    if phase == .open { return machine }
    _ = machine.begin()
    if phase == .cancelling { _ = machine.expire() }
    if phase == .idle { while machine.phase != .idle { _ = machine.leave(isStopped: false) } }
    return machine
  }

  private static let rows: [(DrainMachine.Phase, DrainMachine.Role, Bool)] = [
    (.open, .own, true), (.open, .part, true), (.open, .local, true),
    (.draining, .own, false), (.draining, .part, true), (.draining, .local, true),
    (.cancelling, .own, false), (.cancelling, .part, false), (.cancelling, .local, true),
    (.idle, .own, false), (.idle, .part, false), (.idle, .local, true),
    (.open, .pause, true), (.draining, .pause, false), (.cancelling, .pause, false), (.idle, .pause, false),
  ]

  @Test(arguments: rows)
  func `phase and role decide`(_ row: (DrainMachine.Phase, DrainMachine.Role, Bool)) {
    var machine = machine(row.0, running: 1)
    #expect(machine.phase == row.0)
    let refused = machine.refused
    #expect(machine.enter(row.1) == row.2)
    #expect(machine.refused == refused + (row.2 ? 0 : 1))
  }

  @Test func `pause is not counted as running`() {
    var machine = DrainMachine()
    #expect(machine.enter(.pause) == true)
    #expect(machine.running == 0)
    #expect(machine.begin() == true)
    #expect(machine.phase == .idle)
  }

  @Test func `cancelled refresh is not complete`() {
    var report = DrainMachine().report(isCacheWritten: true)
    #expect(report.isComplete)
    report.hasCancelledRefreshes = true
    #expect(!report.isComplete)
  }

  @Test func `client without calls is idle`() {
    var machine = DrainMachine()
    #expect(machine.begin() == true)
    #expect(machine.phase == .idle)
    #expect(machine.begin() == false)
    #expect(machine.expire() == false)
    #expect(machine.report(isCacheWritten: true).isComplete)
  }

  @Test func `last call makes the client idle`() {
    var machine = machine(.draining, running: 2)
    #expect(machine.leave(isStopped: false) == false)
    #expect(machine.enter(.part) == true)
    #expect(machine.leave(isStopped: true) == false)
    #expect(machine.leave(isStopped: false) == true)
    #expect(machine.phase == .idle)
    #expect((machine.finished, machine.cancelled, machine.running) == (3, 0, 0))
  }

  @Test func `only stopped calls count as cancelled`() {
    var machine = machine(.draining, running: 3)
    #expect(machine.expire() == true)
    #expect(machine.expire() == false)
    #expect(machine.leave(isStopped: false) == false)
    #expect(machine.leave(isStopped: true) == false)
    let report = machine.report(isCacheWritten: false)
    #expect(report == DrainReport(finished: 1, cancelled: 1, unfinished: 1, refused: 0, isCacheWritten: false))
    #expect(!report.isComplete)
    #expect(machine.leave(isStopped: true) == true)
  }

  /// Random steps against a model that has its own record of the calls. The model does not read the machine.
  @Test(arguments: 0..<200)
  func `machine agrees with a model`(_ seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    var machine = DrainMachine()
    var (running, begun, expired, isIdle) = (0, false, false, false)
    var (finished, cancelled, refused) = (0, 0, 0)
    for _ in 0..<60 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...3:
        let roles = DrainMachine.Role.allCases
        let role = roles[Int.random(in: 0..<roles.count, using: &random)]
        let enters = !begun || role == .local || role == .part && !expired && !isIdle
        #expect(machine.enter(role) == enters)
        running += enters && role != .pause ? 1 : 0
        refused += enters ? 0 : 1
      case 4...5 where running > 0:
        let isStopped = Bool.random(using: &random)
        running -= 1
        let isLast = begun && !isIdle && running == 0
        if begun, !isIdle {
          if expired, isStopped { cancelled += 1 } else { finished += 1 }
        }
        #expect(machine.leave(isStopped: isStopped) == isLast)
        isIdle = isIdle || isLast
      case 6:
        #expect(machine.begin() == !begun)
        if !begun { isIdle = running == 0 }
        begun = true
      case 7:
        let expires = begun && !expired && !isIdle
        #expect(machine.expire() == expires)
        expired = expired || expires
      default: break
      }
      #expect((machine.running, machine.refused) == (running, refused))
      #expect((machine.finished, machine.cancelled) == (finished, cancelled))
      #expect((machine.phase == .open) == !begun)
      #expect((machine.phase == .idle) == isIdle)
    }
  }
}
