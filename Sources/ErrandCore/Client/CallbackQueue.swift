import ErrandSupport

/// Runs the jobs of one call on an executor, one after the other, in the order in which ``run(_:)`` receives the jobs,
/// even if the executor runs jobs in parallel. So no progress is reported after the success or the failure of the call.
final class CallbackQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State: Sendable {
    var jobs: [Job] = []
    var isDraining = false
  }

  private let executor: CallbackExecutor
  private let state = Locked(State())

  init(_ executor: CallbackExecutor) { self.executor = executor }

  func run(_ job: @escaping Job) {
    // The main actor runs jobs in the order in which they were submitted, so these jobs need no queue.
    if executor.isMain { return executor.run(job) }
    let mustDrain = state.withLock { state in
      state.jobs.append(job)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if mustDrain { executor.run { self.drain() } }
  }

  private func drain() {
    while let job = next() { job() }
  }

  private func next() -> Job? {
    state.withLock { state in
      if state.jobs.isEmpty {
        state.isDraining = false
        return nil
      }
      return state.jobs.removeFirst()
    }
  }
}
