import Dispatch
import Synchronization

/// Where tasks of a test go on; while it is held they wait, and no thread waits with them.
package final class HeldExecutor: TaskExecutor {
  private struct State: Sendable {
    var isHeld = false
    var jobs: [UnownedJob] = []
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "errand.test.held")

  package init() {}

  package func enqueue(_ job: UnownedJob) {
    let isHeld = state.withLock { state in
      if state.isHeld { state.jobs.append(job) }
      return state.isHeld
    }
    if !isHeld { run(job) }
  }

  /// From now on jobs wait.
  package func hold() { state.withLock { $0.isHeld = true } }

  /// Runs what has waited, and all that comes.
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
