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
      let verdict = end(index, error, in: group.info)
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
