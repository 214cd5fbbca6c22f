import ErrandHTTP
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
