import ErrandHTTP
import ErrandSupport
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
