import Dispatch

/// The serial queue for the disk work of one download. It keeps blocking calls away from callers and from the
/// transport.
final class DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "errand.transfer", qos: .userInitiated)

  /// Appends a job to the queue.
  func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  /// Appends a job to the queue and blocks the thread until it is done. Deadlocks if a job calls it.
  func now(_ job: () -> Void) { queue.sync(execute: job) }

  /// Appends a job to the queue and suspends until it is done. Cancellation does not end the wait, so that a disk
  /// operation is never abandoned halfway.
  func value<Value: Sendable>(_ job: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withUnsafeThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: job)) }
    }
  }
}
