import ErrandSupport
import Dispatch

/// A task executor for tests. While it is held its jobs wait without blocking a thread.
package final class HeldExecutor: TaskExecutor {
  private struct State: Sendable {
    var isHeld = false
    var jobs: [UnownedJob] = []
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "errand.test.held")

  package init() {}

  package func enqueue(_ job: UnownedJob) {
    let isHeld = state.withLock { state in
      if state.isHeld { state.jobs.append(job) }
      return state.isHeld
    }
    if !isHeld { run(job) }
  }

  /// Holds all later jobs.
  package func hold() { state.withLock { $0.isHeld = true } }

  /// Runs the waiting jobs and all later ones.
  package func release() {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      state.isHeld = false
      return state.jobs
    }
    for job in jobs { run(job) }
  }

  private func run(_ job: UnownedJob) {
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
