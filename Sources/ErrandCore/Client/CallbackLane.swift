import ErrandSupport

/// The jobs of one call on its way to an executor: one after the other, in the order they came, also where the
/// executor runs jobs side by side. So no progress overtakes the terminal event, and none follows it.
final class CallbackLane: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State: Sendable {
    var jobs: [Job] = []
    var isDraining = false
  }

  private let executor: CallbackExecutor
  private let state = Locked(State())

  init(_ executor: CallbackExecutor) { self.executor = executor }

  func run(_ job: @escaping Job) {
    // The main actor takes its jobs in order.
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
