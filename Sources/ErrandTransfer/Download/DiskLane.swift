import Dispatch

/// The thread of one download's disk work: one job after the other, in order, away from callers and from the
/// transport.
final class DiskLane: Sendable {
  private let queue = DispatchQueue(label: "errand.transfer", qos: .userInitiated)

  /// Runs a job behind those that were given before.
  func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  /// Runs a job behind those that were given before, and holds the thread until it is done. Not from a job.
  func now(_ job: () -> Void) { queue.sync(execute: job) }

  /// Runs a job behind those that were given before, and waits for it. A cancel does not end the wait: the disk is not
  /// let go in the middle.
  func value<Value: Sendable>(_ job: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withUnsafeThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: job)) }
    }
  }
}
