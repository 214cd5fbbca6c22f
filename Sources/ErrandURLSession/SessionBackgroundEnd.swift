import ErrandCore
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
  /// As URLSession takes it. Throws where it would send something else.
  func request(_ platform: SessionPlatform) throws -> URLRequest {
    try SessionOrder(Exchange(request: request, network: network), platform).request
  }
}
