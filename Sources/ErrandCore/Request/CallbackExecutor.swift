public import Dispatch

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
