import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The operations that an exchange needs from a URLSession task. It is a protocol, so that tests can check pauses even
/// on platforms where URLSession does not support them.
protocol SessionTask: Sendable {
  /// Starts or resumes the task.
  func resume()
  /// Suspends the task.
  func suspend()
  /// Cancels the task.
  func cancel()
}

extension URLSessionTask: SessionTask {}
