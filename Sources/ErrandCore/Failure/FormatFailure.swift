/// An error for a body that could not be read in its format: the reason, the place of the error, and how to fix it.
///
/// The message quotes no values, so that no secret gets into a log. It quotes only names of elements and keys.
public struct FormatFailure: Error, Sendable {
  /// The kind of error in the body, for use in a `switch`.
  public enum Kind: String, Sendable, Hashable {
    /// The body is empty.
    case empty
    /// The bytes do not have the syntax of the format, or end too early.
    case malformed
    /// The syntax of the body is valid, but the body uses a feature that is always rejected: entity declarations, or an
    /// object that contains itself.
    case forbidden
    /// The body exceeds a limit, such as the depth of nested elements.
    case limit
    /// A key or a value that the Swift type needs is missing in the body.
    case missing
    /// A value in the body does not fit the Swift type into which the value is decoded.
    case mismatch
  }

  /// The kind of error in the body, for use in a `switch`.
  public let kind: Kind
  /// The reason and how to fix it, in words, without the place of the error.
  public let reason: String
  /// The line of the error, counted from 1. Nil if the format has no lines, or if the syntax is valid but a value does
  /// not fit its type.
  public let line: Int?
  /// The place of the error in the line, in bytes of UTF-8, counted from 1; nil if ``line`` is nil.
  public let column: Int?
  /// The path of a value that does not fit its type, such as `catalog.book[2].price`; empty for the whole body.
  public let path: String
  /// The decoder's own error; nil if there is none. This error may quote values, so do not log it.
  public let underlying: (any Error)?

  /// Makes a failure. Formats in other modules can also throw failures of this type.
  public init(
    _ kind: Kind, _ reason: String, line: Int? = nil, column: Int? = nil, path: String = "",
    underlying: (any Error)? = nil
  ) {
    self.kind = kind
    self.reason = reason
    self.line = line
    self.column = column
    self.path = path
    self.underlying = underlying
  }

  /// Converts the error of a decoder: describes the error in words, and its coding keys as a path.
  ///
  /// - Parameters:
  ///   - error: The error that the decoder threw. A ``FormatFailure`` is used unchanged.
  ///   - root: The beginning of the path, such as the name of the document's root element.
  public init(_ error: any Error, root: String = "") {
    switch error {
    case let error as FormatFailure: self = error
    case DecodingError.keyNotFound(let key, let context):
      self.init(.missing, "the value is missing", path: Self.path(root, context.codingPath + [key]), underlying: error)
    case DecodingError.valueNotFound(_, let context):
      self.init(.missing, "the value is null or missing", path: Self.path(root, context.codingPath), underlying: error)
    case DecodingError.typeMismatch(let type, let context):
      self.init(
        .mismatch, "the value is not of type \(type)", path: Self.path(root, context.codingPath), underlying: error)
    case DecodingError.dataCorrupted(let context):
      self.init(
        .mismatch, "the value is not valid for its type", path: Self.path(root, context.codingPath), underlying: error)
    default:
      self.init(
        .mismatch, "the decoding code of the Swift type threw an error of type \(type(of: error))", underlying: error)
    }
  }

  /// Writes coding keys as a path such as `root.key[0].key`.
  package static func path(_ root: String, _ keys: [any CodingKey]) -> String {
    keys.reduce(into: root) { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }
}

extension FormatFailure: Masked {
  /// One line, such as `line 3, column 7: the element <b> is not closed`, or
  /// `catalog.book[2].price: the value is missing`.
  public var description: String {
    if let line { return "line \(line), column \(column ?? 1): \(reason)" }
    return path.isEmpty ? reason : "\(path): \(reason)"
  }

  /// All properties except the underlying error, which may quote values.
  package var shownParts: KeyValuePairs<String, Any> {
    ["kind": kind, "reason": reason, "line": line as Any, "column": column as Any, "path": path]
  }
}
