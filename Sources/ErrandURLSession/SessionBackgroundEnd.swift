import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension BackgroundEnd {
  /// Converts the error that URLSession reports at the end of a background task. If there is no error, the task has
  /// finished.
  init(_ error: (any Error)?, _ origin: HTTPURL.Origin) {
    guard let error else {
      self = .finished
      return
    }
    let reported = error as NSError
    if reported.domain == NSURLErrorDomain, reported.code == NSURLErrorCancelled {
      self = .cancelled(Self.words[reported.userInfo["NSURLErrorBackgroundTaskCancelledReasonKey"] as? Int ?? -1])
    } else {
      self = .failed(SessionFailure(error, origin).transportFailure)
    }
  }

  /// The reasons for which the system cancels background tasks, by their numbers in `NSURLError.h`.
  private static let words = [
    0: "the user closed the app", 1: "background work is disabled for the app",
    2: "the system had too few resources",
  ]
}

extension BackgroundOrder {
  /// The request in the form that URLSession needs, and the file to upload; the file is nil for a download. Throws if
  /// URLSession would change the request.
  func parts(_ platform: SessionPlatform) throws -> (request: URLRequest, file: URL?) {
    let order = try SessionOrder(Exchange(request: request, network: network), platform)
    switch order.body {
    case .none: return (order.request, nil)
    case .file(let file): return (order.request, file)
    case .data, .source:
      throw TransportFailure(
        .unsupported, "A background session can send a body only from a file.", isCertainlyNotSent: true)
    }
  }
}
