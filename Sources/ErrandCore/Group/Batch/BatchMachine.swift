/// Which member of a batch starts next, and when the batch is over: a state machine without I/O.
struct BatchMachine: Sendable {
  /// When a batch has what it wants.
  enum Goal: Sendable, Hashable {
    /// Every member succeeds; the first failure ends the batch.
    case all
    /// Every member ends, whichever way.
    case outcomes
    /// So many members succeed; the batch ends as soon as they have, or can no longer.
    case successes(Int)
  }

  /// Whether the batch goes on.
  enum Verdict: Sendable, Hashable {
    case goOn
    case reached
    /// The goal cannot be reached any more.
    case missed
  }

  private let goal: Goal
  private let count: Int
  private var started = 0
  private var ended = 0
  private var successes = 0
  private(set) var verdict: Verdict

  /// A batch of so many members.
  init(_ goal: Goal, count: Int) {
    self.goal = goal
    self.count = count
    verdict = count == 0 || goal == .successes(0) ? .reached : .goOn
  }

  /// The next member to start; nil where all have, or the batch is over.
  mutating func next() -> Int? {
    guard verdict == .goOn, started < count else { return nil }
    defer { started += 1 }
    return started
  }

  /// A member has ended. What comes after the end changes nothing.
  mutating func end(succeeded: Bool) -> Verdict {
    guard verdict == .goOn else { return verdict }
    ended += 1
    if succeeded { successes += 1 }
    verdict = judged
    return verdict
  }

  private var judged: Verdict {
    let failures = ended - successes
    switch goal {
    case .all: return failures > 0 ? .missed : ended == count ? .reached : .goOn
    case .outcomes: return ended == count ? .reached : .goOn
    case .successes(let wanted):
      if successes >= wanted { return .reached }
      return count - failures < wanted ? .missed : .goOn
    }
  }
}
