import Dispatch
import ErrandSupport

/// A serial queue for blocking disk work, for example that of one download. It keeps blocking file operations away from
/// the threads of callers and of the transport.
final class DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "errand.transfer", qos: .userInitiated)

  /// Appends a job to the queue, and does not wait for it.
  func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  /// Appends a job to the queue, and blocks the thread until the job is done. A job of the same queue must not call
  /// this method, because it would deadlock.
  func now(_ job: () -> Void) { queue.sync(execute: job) }

  /// Appends a job to the queue, and suspends the task until the job is done. Cancelling the task does not end the
  /// wait, so that a disk operation is never abandoned halfway.
  func value<Value: Sendable>(_ job: @escaping @Sendable () throws -> Value) async throws -> Value {
    // The continuation orders the job before the rest of the task. The thread sanitizer cannot see that, but it sees
    // the lock.
    let isDone = Locked(false)
    defer { isDone.withLock { _ in } }
    return try await withUnsafeThrowingContinuation { continuation in
      queue.async {
        let result = Result(catching: job)
        isDone.withLock { $0 = true }
        continuation.resume(with: result)
      }
    }
  }
}
