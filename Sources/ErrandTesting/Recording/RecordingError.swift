import Foundation

/// The reason why a recording could not be read, created or written.
public enum RecordingError: Error, Sendable, Hashable {
  /// The recording's file does not exist, or reading the file is not permitted.
  case unreadable(path: String, reason: String)
  /// The file is damaged or is not a recording. If the mistake has a position in the file, the text `reason` contains
  /// the JSON path of this position.
  case damaged(path: String, reason: String)
  /// The recording's file was written by a newer version of the library.
  case newer(path: String, version: Int, known: Int)
  /// The recording's file cannot be written.
  case unwritable(path: String, reason: String)
  /// A body was longer than the limit `bodyLimit` with which the ``RecordingTransport`` was created.
  case tooLarge(request: String, limit: Int)

  static func reason(_ error: any Error) -> String {
    (error as NSError).localizedDescription
  }
}

extension RecordingError: CustomStringConvertible {
  /// A text that names the cause and the cure. If a file cannot be written, the text names only the cause.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "The recording \(path) cannot be read: \(reason) Record it first with a `RecordingTransport`."
    case .damaged(let path, let reason):
      "The recording \(path) is damaged: \(reason). Correct the file, or record it again."
    case .newer(let path, let version, let known):
      "The recording \(path) has version \(version), but this library reads only versions up to \(known). "
        + "Update the library, or record it again."
    case .unwritable(let path, let reason):
      "The recording cannot be written to \(path): \(reason)"
    case .tooLarge(let request, let limit):
      "\(request) has a body of more than \(limit) bytes, which cannot be recorded. "
        + "Raise the recorder's `bodyLimit`, or do not record that call."
    }
  }
}
