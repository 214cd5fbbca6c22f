public import Dispatch
import ErrandSupport

/// The executor on which the closures and hooks of a call run, such as the main actor or a dispatch queue.
public struct CallbackExecutor: Sendable {
  let isMain: Bool
  let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// The main actor. The main thread must process events, as it does in an app, in an `async` main function, or after
  /// `dispatchMain()`.
  public static let main = CallbackExecutor(isMain: true) { job in Task { @MainActor in job() } }

  /// Runs each job immediately on the thread that submits the job.
  package static let inPlace = CallbackExecutor(isMain: false) { job in job() }

  /// A dispatch queue. Closures of one call never run in parallel, even on a concurrent queue.
  public static func queue(_ queue: DispatchQueue) -> CallbackExecutor {
    CallbackExecutor(isMain: false) { job in queue.async(execute: job) }
  }

  /// A custom executor. The function `run` must execute each job exactly once, without a long delay. Closures of one
  /// call never run in parallel, even if the executor runs jobs in parallel.
  public static func custom(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> CallbackExecutor {
    CallbackExecutor(isMain: false, run: run)
  }
}

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
    while var jobs = takeJobs() {
      while let job = jobs.popLast() { job() }
    }
  }

  /// Takes all waiting jobs, in reverse order; nil if no job is waiting. Jobs are not removed from the front of the
  /// array one by one, because the cost of each would grow with the number of waiting jobs.
  private func takeJobs() -> [Job]? {
    state.withLock { state in
      if state.jobs.isEmpty {
        state.isDraining = false
        return nil
      }
      defer { state.jobs = [] }
      return Array(state.jobs.reversed())
    }
  }
}
