public import Dispatch

/// Where closures and hooks of a call run.
public struct CallbackExecutor: Sendable {
  let isMain: Bool
  let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// The main actor. It needs a living main thread: an app's, an `async` main, or `dispatchMain()`.
  public static let main = CallbackExecutor(isMain: true) { job in Task { @MainActor in job() } }

  /// Wherever a job comes up.
  package static let inPlace = CallbackExecutor(isMain: false) { job in job() }

  /// A dispatch queue. Closures of one call never run side by side, also on a concurrent queue.
  public static func queue(_ queue: DispatchQueue) -> CallbackExecutor {
    CallbackExecutor(isMain: false) { job in queue.async(execute: job) }
  }

  /// Whatever runs the jobs handed to it, each once, soon. Closures of one call never run side by side, also where
  /// jobs do.
  public static func custom(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> CallbackExecutor {
    CallbackExecutor(isMain: false, run: run)
  }
}
