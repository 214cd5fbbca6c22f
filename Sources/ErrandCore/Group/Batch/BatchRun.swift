import ErrandSupport

/// One run of the members of a batch. Several tasks share this object, and each task runs one member after the other.
final class BatchRun: Sendable {
  /// The error that a task throws when the batch is over. The error makes the task group cancel the other tasks.
  struct Over: Error {}

  private struct State: Sendable {
    var machine: BatchMachine
    var failure: APIError?
    /// The indexes of the members that succeeded before the batch was over, in the order in which they ended.
    var successes: [Int] = []
    /// The number of tasks that may still start or run members of the batch.
    var working: Int
    /// The object that resumes the task that waits for the end of the batch; nil if no task waits.
    var waiting: Wakeup?

    var isOver: Bool { working == 0 || machine.verdict != .pending }
  }

  private let members: BatchMembers
  private let state: Locked<State>

  /// Makes a run in which no member has started.
  ///
  /// - Parameter tasks: The number of tasks that will call ``work(in:)``.
  init(_ members: BatchMembers, _ goal: BatchMachine.Goal, tasks: Int) {
    self.members = members
    state = Locked(State(machine: BatchMachine(goal, count: members.count), working: tasks))
  }

  /// The indexes of the members that have succeeded, in the order in which they ended.
  /// - Throws: The first failure if the goal of the batch cannot be reached; an error of stage `cancelled` if the batch
  ///   was stopped.
  func successes() throws(APIError) -> [Int] {
    let (verdict, failure, successes) = state.withLock { ($0.machine.verdict, $0.failure, $0.successes) }
    if verdict == .reached { return successes }
    throw failure ?? .stopped(.cancelled)
  }

  /// Runs one member after the other until no member is left to start or the batch is over.
  func work(in group: GroupScope) async throws(Over) {
    defer { leave() }
    while !group.isStopped, !Task.isCancelled, let index = state.withLock({ $0.machine.next() }) {
      let error = await members.run(index, group)
      let verdict = end(index, error, in: group.run.info)
      group.run.count()
      if verdict != .pending { throw Over() }
    }
  }

  /// Waits until the batch is over. If the group is stopped, the wait ends at once.
  func wait(_ call: CallState) async throws(CallState.Stopped) {
    try await call.wait { wakeup in
      let isOver = state.withLock { state in
        state.waiting = wakeup
        return state.isOver
      }
      if isOver { wakeup.resume() }
    }
  }

  private func leave() {
    let wakeup = state.withLock { state in
      state.working -= 1
      return state.isOver ? state.waiting : nil
    }
    wakeup?.resume()
  }

  private func end(_ index: Int, _ error: APIError?, in group: GroupInfo) -> BatchMachine.Verdict {
    let error = error?.ofMember(
      GroupMember(kind: .batch, group: group.name, index: index, name: "\(members.name(index))"))
    return state.withLock { state in
      if state.failure == nil, state.machine.verdict == .pending { state.failure = error }
      if error == nil, state.machine.verdict == .pending { state.successes.append(index) }
      return state.machine.end(succeeded: error == nil)
    }
  }
}

/// Stores the outcome of one member of a batch until the batch is over.
final class BatchSlot<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, APIError>?>(nil)

  /// Makes an empty slot for the outcome of a step. The argument only determines the type of the slot.
  static func fitting<S: GroupStep>(_ step: S) -> BatchSlot<Value> where S.Response == Value { BatchSlot() }

  /// Runs a step and stores its result. Returns the error if the step fails.
  func run<S: GroupStep>(_ step: S, in group: GroupScope) async -> APIError? where S.Response == Value {
    do throws(APIError) {
      let value = try await step.run(in: group)
      result.withLock { $0 = .success(value) }
      return nil
    } catch {
      result.withLock { $0 = .failure(error) }
      return error
    }
  }

  /// The result of the member; nil if the member was never started.
  var outcome: Result<Value, APIError>? { result.withLock { $0 } }

  func outcome(else failure: APIError) -> Result<Value, APIError> { outcome ?? .failure(failure) }

  /// The value of the member.
  /// - Throws: The member's error; an error of stage `cancelled` if the member was never started.
  func value() throws(APIError) -> Value {
    guard let outcome else { throw .stopped(.cancelled) }
    return try outcome.get()
  }
}

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
