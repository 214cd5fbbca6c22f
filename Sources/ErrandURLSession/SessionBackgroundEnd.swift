import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension BackgroundEnd {
  /// How a task of a background session ended, by the error that URLSession tells of it.
  init(_ error: (any Error)?, _ origin: HTTPURL.Origin) {
    guard let error else {
      self = .finished
      return
    }
    let told = error as NSError
    if told.domain == NSURLErrorDomain, told.code == NSURLErrorCancelled {
      self = .cancelled(Self.words[told.userInfo["NSURLErrorBackgroundTaskCancelledReasonKey"] as? Int ?? -1])
    } else {
      self = .failed(SessionFailure(error, origin).transportFailure)
    }
  }

  /// By the numbers of `NSURLError.h`.
  private static let words = [
    0: "the user closed the app", 1: "background work is switched off for the app",
    2: "the system had too few resources",
  ]
}

extension BackgroundOrder {
  /// As URLSession takes it, with the file of an upload; nil for a download. Throws where it would send something else.
  func parts(_ platform: SessionPlatform) throws -> (request: URLRequest, file: URL?) {
    let order = try SessionOrder(Exchange(request: request, network: network), platform)
    switch order.body {
    case .none: return (order.request, nil)
    case .file(let file): return (order.request, file)
    case .data, .source:
      throw TransportFailure(
        .unsupported, "A background session sends a body from a file alone.", isCertainlyNotSent: true)
    }
  }
}
