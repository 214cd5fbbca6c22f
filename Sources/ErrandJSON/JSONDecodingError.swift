/// A JSON text that could not be read as the type that was asked for: where, why, and what stands there.
///
/// Secrets are masked: values under keys that look like a secret's, and strings of more than 24 characters, appear as
/// `"…"` in the excerpt and not at all in the reason.
public struct JSONDecodingError: Error, Sendable {
  /// Why, in a form that can be switched over.
  public enum Kind: String, Sendable, Hashable {
    /// The text is empty.
    case empty
    /// The text is not JSON.
    case notJSON
    /// A key, or the place that was asked for, is missing.
    case missingKey
    /// A value has another type.
    case wrongType
    /// Null stands where a value is due.
    case unexpectedNull
    /// A number does not fit the type.
    case numberOutOfRange
    /// A value has the right type, but cannot be used: a date in another format, an unknown enumeration case.
    case invalidValue
    /// The type's own code threw an error.
    case other
  }

  /// Why, in a form that can be switched over.
  public let kind: Kind
  /// Where, in the keys of the text; the root for a text that is empty or not JSON.
  public let path: JSONPath
  /// Why, in words.
  public let reason: String
  /// At most 120 bytes of the JSON at or around the place, secrets masked; empty if there is none to show.
  public let excerpt: String
  /// The decoder's error. It may hold parts of the text: do not log it.
  public let underlying: (any Error)?

  init(kind: Kind, path: JSONPath, reason: String, excerpt: String = "", underlying: (any Error)? = nil) {
    self.kind = kind
    self.path = path
    self.reason = reason
    self.excerpt = excerpt
    self.underlying = underlying
  }

  /// For a text that cannot be read at all.
  init(_ error: JSONError, excerpt: String = "") {
    let kind: Kind =
      switch error {
      case .empty: .empty
      case .numberOutOfRange: .numberOutOfRange
      default: .notJSON
      }
    self.init(kind: kind, path: .root, reason: error.clause, excerpt: excerpt, underlying: error)
  }

  /// For a place that is not in the document.
  init(missing path: JSONPath, in root: JSONValue) {
    var path = path
    while let parent = path.parent, root.value(at: parent) == nil { path = parent }
    self.init(
      kind: .missingKey, path: path, reason: "nothing lies there", excerpt: JSONExcerpt.around(path, in: root))
  }
}

extension JSONDecodingError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `$.users[2].name: expected a string, found a number, in {"id":3,"name":7}`. A text that is empty or not
  /// JSON has no place in it to name.
  public var description: String {
    let isWhole = kind == .empty || kind == .notJSON
    return (isWhole ? reason : "\(path): \(reason)") + (excerpt.isEmpty ? "" : ", in \(excerpt)")
  }

  /// The same line, so that the underlying error does not appear in dumps.
  public var debugDescription: String { description }

  /// What dumps show: everything but the underlying error.
  public var customMirror: Mirror {
    Mirror(self, children: ["kind": kind, "path": path, "reason": reason, "excerpt": excerpt], displayStyle: .struct)
  }
}
