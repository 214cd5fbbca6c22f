import Dispatch
import ErrandHTTP
import ErrandSupport
import Foundation

/// Reads a body to its end on a queue of its own: a short one into memory, a longer one into a file.
final class SessionBodyCopy: @unchecked Sendable {  // what has no lock is touched by one job of the queue at a time
  private struct End: Sendable {
    var wakeup: Wakeup?
    var result: Result<SessionUpload, any Error>?
    /// Whether nobody waits any more.
    var isLeft = false
  }

  /// A body with more bytes than this goes into a file.
  static let mostInMemory = 256 << 10

  private let body: HTTPBody
  private let folder: URL
  private let queue = DispatchQueue(label: "errand.urlsession.body", qos: .userInitiated)
  private let end = Locked(End())
  private var source: (any BodySource)?
  private var memory = Data()
  private var file: SessionBodyFile?

  init(_ body: HTTPBody, in folder: URL = FileManager.default.temporaryDirectory) {
    self.body = body
    self.folder = folder
  }

  /// Waits for the end of the body. A stop of the call ends the wait at once, and the reading behind the piece at hand.
  func made(for call: CallState) async throws -> SessionUpload {
    do {
      try await call.wait { wakeup in
        end.withLock { $0.wakeup = wakeup }
        queue.async { self.goOn() }
      }
    } catch {
      end.withLock { $0.isLeft = true }
      throw error
    }
    let result = end.withLock { end in
      // A source that resumes once more finds nothing to do.
      end.isLeft = true
      return end.result.take()
    }
    guard let result else {
      throw TransportFailure(.bodySource, "What the body is read from has stopped before its end.")
    }
    return try result.get()
  }

  /// Reads as long as there is something to read.
  private func goOn() {
    guard end.withLock({ $0.result == nil && !$0.isLeft }) else { return }
    do {
      guard let whole = try readOn() else { return }
      finish(.success(whole))
    } catch {
      finish(.failure(error))
    }
  }

  /// What the body is, once its end has come; nil where the source has nothing now, or nobody waits for it.
  private func readOn() throws -> SessionUpload? {
    let source = try opened()
    return try withUnsafeTemporaryAllocation(byteCount: Self.mostInMemory, alignment: 16) { room in
      while !end.withLock({ $0.isLeft }) {
        switch try source.read(into: room) {
        case .bytes(let count): try take(Data(room[..<count]))
        case .later: return nil
        case .end: return try whole()
        }
      }
      // Nobody waits: what was written goes now, and not with the last resumption.
      file = nil
      self.source = nil
      return nil
    }
  }

  private func opened() throws -> any BodySource {
    if let source { return source }
    let opened = try body.open(
      BodyFlow { [weak self] in
        guard let self else { return }
        queue.async { self.goOn() }
      })
    source = opened
    return opened
  }

  private func take(_ piece: Data) throws {
    memory.append(piece)
    if memory.count > Self.mostInMemory { _ = try flushed() }
  }

  /// The file, with all that has been read.
  private func flushed() throws -> SessionBodyFile {
    let file = try file ?? SessionBodyFile(in: folder)
    self.file = file
    try file.append(memory)
    memory.removeAll(keepingCapacity: true)
    return file
  }

  private func whole() throws -> SessionUpload { file == nil ? .data(memory) : .copy(try flushed()) }

  /// Lets go of all that the result does not hold, and wakes the caller behind that.
  private func finish(_ result: Result<SessionUpload, any Error>) {
    source = nil
    file = nil
    let wakeup = end.withLock { end in
      end.result = result
      return end.wakeup.take()
    }
    wakeup?.resume()
  }
}
