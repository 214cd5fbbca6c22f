import Dispatch
import ErrandHTTP
import ErrandSupport
import Foundation

/// The request body in a form that URLSession can send: bytes or a file. URLSession cannot read a body while sending
/// it.
enum SessionUpload: Sendable {
  case none
  case data(Data)
  case file(URL)
  /// A body that was read to its end in advance. Its bytes are in a file. The file is removed when this value is
  /// released.
  case copy(SessionBodyFile)

  /// Converts a body. A body that is read piece by piece is read to its end.
  /// - Throws: ``CallState/Stopped``, an error of the source, or ``TransportFailure`` if the copy cannot be written.
  init(_ body: SessionOrder.Body, for call: CallState) async throws {
    switch body {
    case .none: self = .none
    case .data(let data): self = .data(data)
    case .file(let file): self = .file(file)
    case .source(let body): self = try await SessionBodyCopy(body).made(for: call)
    }
  }

  /// The length of a body that is in memory or was copied to a file; nil for any other body. The request itself may not
  /// know the length of a body that was read in advance.
  var copiedLength: Int64? {
    switch self {
    case .none, .file: nil
    case .data(let data): Int64(data.count)
    case .copy(let file): file.length
    }
  }
}

/// A file with the copy of a request body. Only the user can access the file. It is removed when this object is
/// deallocated.
final class SessionBodyFile: @unchecked Sendable {  // one job at a time writes it; it is only read afterwards
  let url: URL
  private(set) var length: Int64 = 0
  private let handle: FileHandle

  init(in folder: URL) throws {
    url = folder.appending(path: "errand-body-\(UUID().uuidString)", directoryHint: .notDirectory)
    let descriptor = open(url.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(folder, String(cString: strerror(errno))) }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func append(_ bytes: Data) throws {
    do {
      try handle.write(contentsOf: bytes)
    } catch {
      throw Self.failure(url.deletingLastPathComponent(), error.localizedDescription)
    }
    length += Int64(bytes.count)
  }

  private static func failure(_ folder: URL, _ reason: String) -> TransportFailure {
    TransportFailure(
      .bodySource,
      "The copy of the body for URLSession cannot be written to \(folder.path(percentEncoded: false)): \(reason).",
      isCertainlyNotSent: true)
  }
}

/// Reads a whole request body on its own queue. A short body is kept in memory, a longer body is written to a file.
final class SessionBodyCopy: @unchecked Sendable {  // one job of the queue at a time uses the state without a lock
  private struct End: Sendable {
    var wakeup: Wakeup?
    var result: Result<SessionUpload, any Error>?
    /// Whether the caller no longer waits for the copy of the body, because the call was stopped.
    var isLeft = false
  }

  /// The maximum number of bytes of a body that is kept in memory. A longer body is written to a file.
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

  /// Waits until the whole body is read. If the call is stopped, the wait ends at once, and reading ends after the
  /// current piece.
  func made(for call: CallState) async throws -> SessionUpload {
    do {
      try await call.wait { wakeup in
        end.withLock { $0.wakeup = wakeup }
        queue.async { self.continueReading() }
      }
    } catch {
      end.withLock { $0.isLeft = true }
      throw error
    }
    let result = end.withLock { end in
      // From now on, reading does not continue when the source has bytes again.
      end.isLeft = true
      return end.result.take()
    }
    guard let result else {
      throw TransportFailure(.bodySource, "The source of the body stopped before the end of the body.")
    }
    return try result.get()
  }

  /// Continues reading the body until its source has no bytes now, or until the body ends.
  private func continueReading() {
    guard end.withLock({ $0.result == nil && !$0.isLeft }) else { return }
    do {
      guard let whole = try readOn() else { return }
      finish(.success(whole))
    } catch {
      finish(.failure(error))
    }
  }

  /// Reads pieces of the body until it is complete. Returns the complete body; nil if the source has no bytes now, or
  /// if the caller no longer waits.
  private func readOn() throws -> SessionUpload? {
    let source = try opened()
    return try withUnsafeTemporaryAllocation(byteCount: Self.mostInMemory, alignment: 16) { buffer in
      while !end.withLock({ $0.isLeft }) {
        switch try source.read(into: buffer) {
        case .bytes(let count): try take(Data(buffer[..<count]))
        case .later: return nil
        case .end: return try whole()
        }
      }
      // The caller no longer waits. Remove the file now, without waiting until the source resumes or is released.
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
        queue.async { self.continueReading() }
      })
    source = opened
    return opened
  }

  private func take(_ piece: Data) throws {
    memory.append(piece)
    if memory.count > Self.mostInMemory { _ = try flushed() }
  }

  /// Writes the bytes of the body that are still in memory to the file, and returns the file.
  private func flushed() throws -> SessionBodyFile {
    let file = try file ?? SessionBodyFile(in: folder)
    self.file = file
    try file.append(memory)
    memory.removeAll(keepingCapacity: true)
    return file
  }

  private func whole() throws -> SessionUpload { file == nil ? .data(memory) : .copy(try flushed()) }

  /// Stores the result, releases the source and the file, and then resumes the caller that waits for the copy.
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
