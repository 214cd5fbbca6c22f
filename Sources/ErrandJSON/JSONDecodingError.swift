/// A JSON text could not be read as the requested type. The error has the path, the reason, and an excerpt of the text.
///
/// Secrets are masked: values under keys whose names suggest a secret, and strings of more than 24 characters, appear
/// as `"…"` in the excerpt and not at all in the reason.
public struct JSONDecodingError: Error, Sendable {
  /// The kind of failure, for `switch` statements.
  public enum Kind: Sendable, Hashable {
    /// The text is empty.
    case empty
    /// The text is not JSON.
    case notJSON
    /// A key is missing, or the document has no value at the requested path.
    case missingKey
    /// A value has another type than the requested type.
    case wrongType
    /// The value is null, but the type does not accept null.
    case unexpectedNull
    /// A number does not fit the type.
    case numberOutOfRange
    /// A value has the right JSON type, but is invalid: a date in another format, or an unknown enumeration case.
    case invalidValue
    /// The type's own code threw an error.
    case other
  }

  /// The kind of failure.
  public let kind: Kind
  /// The path of the failure, with the keys as they are written in the text. If the text is empty or not JSON, the path
  /// is the root.
  public let path: JSONPath
  /// The reason for the failure, as an English phrase.
  public let reason: String
  /// At most 120 bytes of the JSON at or around the path, with secrets masked; empty if there is nothing to show.
  public let excerpt: String
  /// The setting that reads the text, as an English phrase; nil if none is known. An example is the key strategy that
  /// reads `user_name` as `userName`.
  public let hint: String?
  /// The decoder's error. It may contain parts of the text, so do not log it.
  public let underlying: (any Error)?

  init(
    kind: Kind, path: JSONPath, reason: String, excerpt: String = "", hint: String? = nil,
    underlying: (any Error)? = nil
  ) {
    self.kind = kind
    self.path = path
    self.reason = reason
    self.excerpt = excerpt
    self.hint = hint
    self.underlying = underlying
  }

  /// The error for a text that cannot be parsed.
  init(_ error: JSONError, excerpt: String = "") {
    let kind: Kind =
      switch error {
      case .empty: .empty
      case .numberOutOfRange: .numberOutOfRange
      default: .notJSON
      }
    self.init(kind: kind, path: .root, reason: error.clause, excerpt: excerpt, underlying: error)
  }

  /// The error for a path without a value. The error's path ends at the first missing step.
  init(missing path: JSONPath, in root: JSONValue) {
    var path = path
    while let parent = path.parent, root.value(at: parent) == nil { path = parent }
    self.init(
      kind: .missingKey, path: path, reason: "the document has no value at this path",
      excerpt: JSONExcerpt.around(path, in: root))
  }
}

extension JSONDecodingError {
  /// The error for a path at which the value is null.
  init(nullAt path: JSONPath, in root: JSONValue) {
    self.init(
      kind: .unexpectedNull, path: path, reason: "expected a value, found null",
      excerpt: JSONExcerpt.around(path, in: root))
  }

  /// The same error with a hint.
  func hinting(_ hint: String?) -> JSONDecodingError {
    JSONDecodingError(kind: kind, path: path, reason: reason, excerpt: excerpt, hint: hint, underlying: underlying)
  }
}

extension JSONDecodingError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `$.users[2].name: expected a string, found a number, in {"id":3,"name":7}`, and the hint if there is
  /// one. For a text that is empty or not JSON, the line has no path.
  public var description: String {
    let isWhole = kind == .empty || kind == .notJSON
    return (isWhole ? reason : "\(path): \(reason)") + (excerpt.isEmpty ? "" : ", in \(excerpt)")
      + (hint.map { "; \($0)" } ?? "")
  }

  /// The same line as `description`. It omits the underlying error, so that dumps do not show the underlying error.
  public var debugDescription: String { description }

  /// All properties except the underlying error, for dumps.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["kind": kind, "path": path, "reason": reason, "excerpt": excerpt, "hint": hint as Any],
      displayStyle: .struct)
  }
}
