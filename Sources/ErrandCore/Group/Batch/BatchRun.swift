import ErrandSupport

/// One run of a batch's members, shared by the tasks that work on it.
final class BatchRun: Sendable {
  /// Thrown by a task when the batch is over: it cancels the other tasks.
  struct Over: Error {}

  private struct State: Sendable {
    var machine: BatchMachine
    var failure: APIError?
    /// The members that have succeeded until the batch was over, in the order of their ends.
    var successes: [Int] = []
    /// The tasks that have not come to their end.
    var working: Int
    /// Who waits for the end of the batch.
    var waiting: Wakeup?

    var isOver: Bool { working == 0 || machine.verdict != .goOn }
  }

  private let members: BatchMembers
  private let state: Locked<State>

  /// - Parameter tasks: How many tasks will call ``work(in:)``.
  init(_ members: BatchMembers, _ goal: BatchMachine.Goal, tasks: Int) {
    self.members = members
    state = Locked(State(machine: BatchMachine(goal, count: members.count), working: tasks))
  }

  /// The members that have succeeded, in the order of their ends.
  /// - Throws: Why the goal was missed: the failure that came first. A cancel where the batch was stopped.
  func successes() throws(APIError) -> [Int] {
    let (verdict, failure, successes) = state.withLock { ($0.machine.verdict, $0.failure, $0.successes) }
    if verdict == .reached { return successes }
    throw failure ?? .stopped(.cancelled)
  }

  /// Runs a member after the other.
  func work(in group: GroupScope) async throws(Over) {
    defer { leave() }
    while !group.isStopped, !Task.isCancelled, let index = state.withLock({ $0.machine.next() }) {
      let error = await members.run(index, group)
      let verdict = end(index, error, in: group.info)
      group.run.count()
      if verdict != .goOn { throw Over() }
    }
  }

  /// Waits until the batch is over. A stop of the group ends the wait at once.
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
      if state.failure == nil, state.machine.verdict == .goOn { state.failure = error }
      if error == nil, state.machine.verdict == .goOn { state.successes.append(index) }
      return state.machine.end(succeeded: error == nil)
    }
  }
}
