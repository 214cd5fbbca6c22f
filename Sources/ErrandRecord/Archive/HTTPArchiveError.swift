/// The reason why an HTTP archive or a flight file could not be read.
///
/// The description names the wrong member by its path, such as `log.entries[3].request.url`, and the cure. It contains
/// no values of the archive.
public struct HTTPArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the error.
  public enum Code: String, Sendable, Hashable {
    /// The file does not exist or cannot be read.
    case unreadable
    /// The text is not JSON.
    case notJSON
    /// A required member is missing.
    case missing
    /// A member has another type than HAR 1.2 requires.
    case wrongType
    /// A member has the right type but an impossible value.
    case wrongValue
    /// The archive has more bytes, entries or header fields than are read.
    case tooLarge
  }

  /// The kind of the error.
  public let code: Code
  /// The path of the wrong member; nil if the error is not about a member.
  public let path: String?
  /// The cause and the cure.
  public let description: String

  init(_ code: Code, at path: String? = nil, _ description: String) {
    (self.code, self.path, self.description) = (code, path, description)
  }

  static func tooLarge(_ bytes: Int) -> HTTPArchiveError {
    HTTPArchiveError(
      .tooLarge,
      "The archive has \(bytes) bytes, but at most \(HTTPArchive.largestSize) are read. Export fewer exchanges.")
  }
}
