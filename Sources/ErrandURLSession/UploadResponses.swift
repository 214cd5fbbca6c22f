import ErrandHTTP
import ErrandSupport
import Foundation

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
