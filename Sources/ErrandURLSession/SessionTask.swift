import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What an exchange does with its task: a seam, so that pauses are tested where URLSession has none.
protocol SessionTask: Sendable {
  /// Starts it, or lets it go on.
  func resume()
  /// Keeps it from bringing more.
  func suspend()
  /// Ends it.
  func cancel()
}

extension URLSessionTask: SessionTask {}
