import ErrandHTTP
import ErrandSupport
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension BackgroundEnd {
  /// Converts the end of a background task. `refusal` is the failure because of which the library has cancelled the
  /// task, and `error` is the error that URLSession reports. If there is neither, the task has finished.
  ///
  /// The system repeats background tasks by itself. So a failure never says that the request was certainly not sent:
  /// an earlier try may have reached the server.
  init(_ error: (any Error)?, _ origin: HTTPURL.Origin?, refusal: TransportFailure? = nil) {
    if let refusal {
      self = .failed(TransportFailure(refusal.kind, refusal.description))
      return
    }
    guard let error else {
      self = .finished
      return
    }
    let reported = error as NSError
    if reported.domain == NSURLErrorDomain, reported.code == NSURLErrorCancelled {
      self = .cancelled(Self.words[reported.userInfo["NSURLErrorBackgroundTaskCancelledReasonKey"] as? Int ?? -1])
    } else if let origin {
      var failure = SessionFailure(error, origin)
      failure.hasMoved = true
      self = .failed(failure.transportFailure)
    } else {
      self = .failed(TransportFailure(.other, "The transfer failed: \(reported.localizedDescription)."))
    }
  }

  /// The reasons for which the system cancels background tasks, by their numbers in `NSURLError.h`.
  private static let words = [
    0: "the user closed the app", 1: "background work is disabled for the app",
    2: "the system had too few resources",
  ]
}

/// The response of a background task as far as an event of the session contains it.
struct BackgroundResponse {
  let head: ResponseHead
  let url: HTTPURL

  /// Converts the response of a task. Throws if it is not an HTTP response, or if its URL has no usable origin.
  init(_ response: URLResponse?) throws(TransportFailure) {
    guard let response = response as? HTTPURLResponse, let url = response.url.flatMap(HTTPURL.init(reported:)) else {
      throw TransportFailure(
        .malformedResponse, "The system reported a response without an http or https URL; start the transfer again.")
    }
    head = ResponseHead(response)
    self.url = url
  }
}

extension HTTPURL {
  /// Converts a URL that URLSession reports, for example after redirects. If it cannot be converted as a whole, for
  /// example because it contains a user name, only its origin is kept. Nil if the URL is not an http or https URL.
  init?(reported url: URL) {
    if let whole = try? HTTPURL(url.absoluteString) {
      self = whole
      return
    }
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let scheme = parts.scheme,
      let host = parts.encodedHost
    else { return nil }
    let port = parts.port.map { ":\($0)" } ?? ""
    guard let origin = try? HTTPURL("\(scheme)://\(host)\(port)/") else { return nil }
    self = origin
  }
}

extension BackgroundOrder {
  /// The request in the form that URLSession needs, and the file to upload; the file is nil for a download. Throws if
  /// URLSession would change the request.
  func parts(_ platform: SessionPlatform) throws -> (request: URLRequest, file: URL?) {
    let order = try SessionOrder(
      Exchange(request: request, network: network), platform, patience: SessionOrder.backgroundPatience)
    switch order.body {
    case .none: return (order.request, nil)
    case .file(let file): return (order.request, file)
    case .data, .source:
      throw TransportFailure(
        .unsupported, "A background session can send a body only from a file.", isCertainlyNotSent: true)
    }
  }
}

/// Collects the response bodies of background uploads, which URLSession delivers in pieces. A body is kept in memory
/// while it arrives, up to a limit. When it is complete, it is written to a file.
final class UploadResponses: Sendable {
  private let limit: Int
  private let bodies = Locked<[Int: Data]>([:])

  /// - Parameter limit: The maximum length of one body in bytes.
  init(limit: Int) { self.limit = limit }

  /// Adds a received piece to the response body of a task. Returns a failure if the body becomes too long.
  func add(_ piece: Data, to task: Int) -> TransportFailure? {
    let fits = bodies.withLock { bodies in
      let known = bodies[task]?.count ?? 0
      guard piece.count <= limit - known else { return false }
      bodies[task, default: Data()].append(piece)
      return true
    }
    return fits
      ? nil
      : TransportFailure(
        .tooLarge,
        "The response body has more than \(limit) bytes; raise `answerBytes`, or let the server send less.")
  }

  /// Discards the bytes that were received so far for the response to an upload task.
  func drop(_ task: Int) { bodies.withLock { $0[task] = nil } }

  /// Writes the received response body of an upload task, possibly empty, to a file that only the user can access. Then
  /// calls `body` with the file, and removes the file. Returns a failure if the file cannot be written.
  func withFile(of task: Int, _ body: (URL) -> Void) -> TransportFailure? {
    let bytes = bodies.withLock { $0.removeValue(forKey: task) } ?? Data()
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    let path = file.path(percentEncoded: false)
    guard FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]) else {
      return TransportFailure(.sink, "The response could not be written to a temporary file.")
    }
    defer { try? FileManager.default.removeItem(at: file) }
    body(file)
    return nil
  }
}
