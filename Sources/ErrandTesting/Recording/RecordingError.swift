import Foundation

/// Why a recording could not be read, made or written.
public enum RecordingError: Error, Sendable, Hashable {
  /// There is no such file, or it may not be read.
  case unreadable(path: String, reason: String)
  /// The file is no recording, or is damaged; the reason names the place in it.
  case damaged(path: String, reason: String)
  /// The file was written by a later version of the library.
  case newer(path: String, version: Int, known: Int)
  /// The file cannot be written.
  case unwritable(path: String, reason: String)
  /// A body was longer than the recorder keeps.
  case tooLarge(request: String, limit: Int)

  static func reason(_ error: any Error) -> String {
    (error as NSError).localizedDescription
  }
}

extension RecordingError: CustomStringConvertible {
  /// One sentence that names the culprit and the cure.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "The recording \(path) cannot be read: \(reason) Record it first, with a `RecordingTransport`."
    case .damaged(let path, let reason):
      "The recording \(path) is damaged: \(reason). Mend that place, or record it again."
    case .newer(let path, let version, let known):
      "The recording \(path) has version \(version), and this library reads up to \(known). "
        + "Update the library, or record it again."
    case .unwritable(let path, let reason):
      "The recording cannot be written to \(path): \(reason)"
    case .tooLarge(let request, let limit):
      "\(request) has a body of more than \(limit) bytes, which is not recorded. "
        + "Raise the recorder's `bodyLimit`, or leave that call out."
    }
  }
}
