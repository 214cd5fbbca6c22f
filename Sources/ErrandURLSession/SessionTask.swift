import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The operations that an exchange needs from a URLSession task. They are a protocol, so that tests can check pauses
/// even on platforms where URLSession does not support them.
protocol SessionTask: Sendable {
  /// Starts the URLSession task, or resumes it after a pause.
  func resume()
  /// Pauses the URLSession task.
  func suspend()
  /// Cancels the URLSession task.
  func cancel()
}

extension URLSessionTask: SessionTask {}
