/// Decides which member of a batch starts next and when the batch is over: a state machine without I/O.
struct BatchMachine: Sendable {
  /// The condition under which a batch ends.
  enum Goal: Sendable, Hashable {
    /// Every member must succeed; the first failure ends the batch.
    case all
    /// Every member must end, with success or failure.
    case outcomes
    /// The given number of members must succeed. The batch ends as soon as this number is reached, or as soon as so
    /// many members have failed that the number can no longer be reached.
    case successes(Int)
  }

  /// The state of a batch: the batch continues, has reached its goal, or can no longer reach its goal.
  enum Verdict: Sendable, Hashable {
    case pending
    case reached
    /// The batch is over without success: so many members have failed that the goal cannot be reached any more.
    case missed
  }

  private let goal: Goal
  private let count: Int
  private var started = 0
  private var ended = 0
  private var successes = 0
  private(set) var verdict: Verdict

  init(_ goal: Goal, count: Int) {
    self.goal = goal
    self.count = count
    verdict = count == 0 || goal == .successes(0) ? .reached : .pending
  }

  /// Returns the index of the next member to start; nil if all members have started or the batch is over.
  mutating func next() -> Int? {
    guard verdict == .pending, started < count else { return nil }
    defer { started += 1 }
    return started
  }

  /// Records that a member has ended, and returns the new state of the batch. The state does not change after the batch
  /// is over.
  mutating func end(succeeded: Bool) -> Verdict {
    guard verdict == .pending else { return verdict }
    ended += 1
    if succeeded { successes += 1 }
    verdict = judged
    return verdict
  }

  private var judged: Verdict {
    let failures = ended - successes
    switch goal {
    case .all: return failures > 0 ? .missed : ended == count ? .reached : .pending
    case .outcomes: return ended == count ? .reached : .pending
    case .successes(let wanted):
      if successes >= wanted { return .reached }
      return count - failures < wanted ? .missed : .pending
    }
  }
}
