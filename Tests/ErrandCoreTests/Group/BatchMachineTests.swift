@testable import ErrandCore
import ErrandTesting
import Testing

/// The moments at which a batch starts a member and at which it is complete, without any I/O.
struct BatchMachineTests {
  typealias Goal = BatchMachine.Goal
  typealias Verdict = BatchMachine.Verdict

  struct Case: Sendable, CustomStringConvertible {
    let goal: Goal
    let count: Int
    /// The members in the order in which they end: `+` succeeds, `-` fails.
    let endings: String
    /// The verdict after each ending: `.` continues, `R` reached, `M` missed.
    let verdicts: String
    var description: String { "\(goal) of \(count): \(endings)" }

    init(_ goal: Goal, _ count: Int, _ endings: String, _ verdicts: String) {
      self.goal = goal
      self.count = count
      self.endings = endings
      self.verdicts = verdicts
    }
  }

  static let cases = [
    Case(.all, 3, "+++", "..R"), Case(.all, 3, "++-", "..M"), Case(.all, 3, "-", "M"),
    Case(.all, 3, "+-+", ".MM"), Case(.all, 1, "+", "R"), Case(.all, 1, "-", "M"),
    Case(.outcomes, 3, "---", "..R"), Case(.outcomes, 3, "+-+", "..R"), Case(.outcomes, 1, "-", "R"),
    Case(.successes(1), 3, "+", "R"), Case(.successes(1), 3, "--+", "..R"), Case(.successes(1), 3, "---", "..M"),
    Case(.successes(2), 3, "++", ".R"), Case(.successes(2), 3, "-++", "..R"), Case(.successes(2), 3, "--", ".M"),
    Case(.successes(2), 3, "+--", "..M"), Case(.successes(3), 3, "-", "M"), Case(.successes(3), 3, "+++", "..R"),
    Case(.successes(1), 3, "+--", "RRR"), Case(.successes(2), 3, "--+", ".MM"),
    // More successes than members: the first ending already misses the goal.
    Case(.successes(4), 3, "+", "M"),
  ]

  @Test(arguments: cases) func `verdict follows the member results`(_ row: Case) {
    var machine = BatchMachine(row.goal, count: row.count)
    var said = ""
    for ending in row.endings { said.append(Self.letter(machine.end(succeeded: ending == "+"))) }
    #expect(said == row.verdicts)
  }

  @Test(arguments: [Goal.all, .outcomes, .successes(0), .successes(3)])
  func `empty batch completes immediately`(_ goal: Goal) {
    var machine = BatchMachine(goal, count: 0)
    #expect(machine.verdict == .reached)
    #expect(machine.next() == nil)
    #expect(machine.end(succeeded: false) == .reached)
  }

  @Test func `zero required successes start no member`() {
    var machine = BatchMachine(.successes(0), count: 3)
    #expect(machine.verdict == .reached)
    #expect(machine.next() == nil)
  }

  @Test func `members start in order and once`() {
    var machine = BatchMachine(.outcomes, count: 4)
    var started: [Int] = []
    while let index = machine.next() { started.append(index) }
    #expect(started == [0, 1, 2, 3])
    #expect(machine.end(succeeded: true) == .pending)
    #expect(machine.next() == nil)
  }

  @Test func `no member starts after the verdict`() {
    for (goal, succeeded) in [(Goal.all, false), (.successes(1), true)] {
      var machine = BatchMachine(goal, count: 4)
      #expect(machine.next() == 0)
      _ = machine.end(succeeded: succeeded)
      #expect(machine.next() == nil, "\(goal)")
    }
  }

  /// Random orders of starts and endings, compared with a model that counts from the beginning each time.
  @Test(arguments: 0..<20 as Range<UInt64>) func `random orders agree with a model`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<100 {
      let count = Int.random(in: 0...6, using: &random)
      let goal =
        [Goal.all, .outcomes, .successes(Int.random(in: 0...count, using: &random))]
        .randomElement(using: &random) ?? .all
      var machine = BatchMachine(goal, count: count)
      var started = 0
      var endings: [Bool] = []
      for _ in 0..<20 {
        let isOver = Self.model(goal, count, endings) != .pending
        if Bool.random(using: &random) {
          let next = machine.next()
          #expect(next == (isOver || started == count ? nil : started))
          if next != nil { started += 1 }
        } else if endings.count < started {
          let succeeded = Bool.random(using: &random)
          if !isOver { endings.append(succeeded) }
          #expect(machine.end(succeeded: succeeded) == Self.model(goal, count, endings))
        }
        #expect(machine.verdict == Self.model(goal, count, endings))
      }
    }
  }

  /// The definition of each goal, computed without stored state.
  private static func model(_ goal: Goal, _ count: Int, _ endings: [Bool]) -> Verdict {
    let failures = endings.count { !$0 }
    let successes = endings.count - failures
    switch goal {
    case .all where failures > 0: return .missed
    case .all, .outcomes: return endings.count == count ? .reached : .pending
    case .successes(let wanted) where count == 0 || successes >= wanted: return .reached
    case .successes(let wanted): return successes + count - endings.count < wanted ? .missed : .pending
    }
  }

  private static func letter(_ verdict: Verdict) -> Character {
    switch verdict {
    case .pending: "."
    case .reached: "R"
    case .missed: "M"
    }
  }
}
