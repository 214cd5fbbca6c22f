import ErrandHTTP
import ErrandSupport
import Foundation

/// The bodies of the answers to uploads, which URLSession tells of piece by piece: in memory up to a limit, then in a
/// file each.
final class SessionAnswers: Sendable {
  private let limit: Int
  private let bodies = Locked<[Int: Data]>([:])

  /// - Parameter limit: The most bytes of one.
  init(limit: Int) { self.limit = limit }

  /// Adds a piece to the answer of a task; returns why it is not taken any further.
  func add(_ piece: Data, to task: Int) -> TransportFailure? {
    let fits = bodies.withLock { bodies in
      let known = bodies[task]?.count ?? 0
      guard piece.count <= limit - known else { return false }
      bodies[task, default: Data()].append(piece)
      return true
    }
    return fits ? nil : TransportFailure(.tooLarge, "The answer has more than the \(limit) bytes that are taken.")
  }

  /// Lets go of what came.
  func drop(_ task: Int) { bodies.withLock { $0[task] = nil } }

  /// Puts what came, be it nothing, into a file of the user alone for as long as `body` runs; returns why it could not.
  func withFile(of task: Int, _ body: (URL) -> Void) -> TransportFailure? {
    let bytes = bodies.withLock { $0.removeValue(forKey: task) } ?? Data()
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    let path = file.path(percentEncoded: false)
    guard FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]) else {
      return TransportFailure(.sink, "The answer could not be written into a file.")
    }
    defer { try? FileManager.default.removeItem(at: file) }
    body(file)
    return nil
  }
}
