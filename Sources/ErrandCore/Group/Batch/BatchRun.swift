import ErrandSupport

/// One run of a batch's members, shared by the tasks that work on it.
final class BatchRun: Sendable {
  /// Thrown by a task when the batch is over: it cancels the other tasks.
  struct Over: Error {}

  private struct State: Sendable {
    var machine: BatchMachine
    var failure: APIError?
  }

  private let members: BatchMembers
  private let state: Locked<State>

  init(_ members: BatchMembers, _ goal: BatchMachine.Goal) {
    self.members = members
    state = Locked(State(machine: BatchMachine(goal, count: members.count)))
  }

  /// Why the goal was missed: the failure that came first.
  var failure: APIError? { state.withLock { $0.failure } }

  /// Runs a member after the other.
  func work(in group: GroupScope) async throws(Over) {
    while !group.isStopped, !Task.isCancelled, let index = state.withLock({ $0.machine.next() }) {
      let error = await members.run(index, group)
      if end(index, error, in: group.info) != .goOn { throw Over() }
    }
  }

  private func end(_ index: Int, _ error: APIError?, in group: GroupInfo) -> BatchMachine.Verdict {
    let error = error?.ofMember(
      GroupMember(kind: .batch, group: group.name, index: index, name: "\(members.name(index))"))
    return state.withLock { state in
      if state.failure == nil, state.machine.verdict == .goOn { state.failure = error }
      let verdict = state.machine.end(succeeded: error == nil)
      if verdict == .reached { state.failure = nil }
      return verdict
    }
  }
}
