import ErrandHTTP
import Foundation

/// What URLSession is handed to send. It takes bytes or a file, and nothing that is read while it is sent.
enum SessionUpload: Sendable {
  case none
  case data(Data)
  case file(URL)
  /// A body that was read to its end before, in a file that goes with it.
  case copy(SessionBodyFile)

  /// Reads a body to its end where it has to be.
  /// - Throws: ``CallState/Stopped``, what the source threw, or ``TransportFailure`` where the copy cannot be written.
  init(_ body: SessionOrder.Body, for call: CallState) async throws {
    switch body {
    case .none: self = .none
    case .data(let data): self = .data(data)
    case .file(let file): self = .file(file)
    case .source(let body): self = try await SessionBodyCopy(body).made(for: call)
    }
  }

  /// The length of what was read before, where the request itself may not know it.
  var copiedLength: Int64? {
    switch self {
    case .none, .file: nil
    case .data(let data): Int64(data.count)
    case .copy(let file): file.length
    }
  }
}

/// The copy of a body, in a file of the user alone. It is removed when nobody holds it any more.
final class SessionBodyFile: @unchecked Sendable {  // written by one job at a time, and only read after the last one
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
      "URLSession is handed a copy of the body, and \(folder.path(percentEncoded: false)) does not take it: \(reason).",
      isCertainlyNotSent: true)
  }
}
