/// A body that could not be read in its format: the reason, the place, and a remedy.
///
/// The message quotes no values, so that no secret gets into a log. It quotes only names of elements and keys.
public struct FormatFailure: Error, Sendable {
  /// The reason, as a value for `switch`.
  public enum Kind: String, Sendable, Hashable {
    /// The body is empty.
    case empty
    /// The bytes do not have the format, or end too early.
    case malformed
    /// The body is legal but uses a feature that is always rejected: entity declarations, or an object that contains
    /// itself.
    case forbidden
    /// The body exceeds a limit.
    case limit
    /// A key is missing.
    case missing
    /// A value does not fit its type.
    case mismatch
  }

  /// The reason, as a value for `switch`.
  public let kind: Kind
  /// The reason and the remedy in words, without the place.
  public let reason: String
  /// The line, counted from 1; nil if the format has no lines, or if the value was read but does not fit its type.
  public let line: Int?
  /// The byte in the line, counted from 1, in UTF-8.
  public let column: Int?
  /// The path of a value that does not fit, such as `catalog.book[2].price`; empty for the whole body.
  public let path: String
  /// The decoder's own error, if there is one. It may quote values: do not log it.
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

  /// Describes a decoder's error in words, with its keys as a path.
  ///
  /// - Parameters:
  ///   - error: The error that the decoder threw; a failure of this type is used as it is.
  ///   - root: The beginning of the path, such as the name of the document's root element.
  public init(_ error: any Error, root: String = "") {
    switch error {
    case let error as FormatFailure: self = error
    case DecodingError.keyNotFound(let key, let context):
      self.init(.missing, "it is missing", path: Self.path(root, context.codingPath + [key]), underlying: error)
    case DecodingError.valueNotFound(_, let context):
      self.init(.missing, "there is no value", path: Self.path(root, context.codingPath), underlying: error)
    case DecodingError.typeMismatch(let type, let context):
      self.init(
        .mismatch, "the value is not of type \(type)", path: Self.path(root, context.codingPath), underlying: error)
    case DecodingError.dataCorrupted(let context):
      self.init(.mismatch, "the value cannot be used", path: Self.path(root, context.codingPath), underlying: error)
    default:
      self.init(.mismatch, "the type's own code threw an error of type \(type(of: error))", underlying: error)
    }
  }

  /// Keys as `root.key[index].key`.
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

extension FormatFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `line 3, column 7: the element <b> is not closed`, or `catalog.book[2].price: it is missing`.
  public var description: String {
    if let line { return "line \(line), column \(column ?? 1): \(reason)" }
    return path.isEmpty ? reason : "\(path): \(reason)"
  }

  /// The same line as ``description``. The default text would show the underlying error, which may quote values.
  public var debugDescription: String { description }

  /// The values that a dump shows: all but the underlying error.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: ["kind": kind, "reason": reason, "line": line as Any, "column": column as Any, "path": path],
      displayStyle: .struct)
  }
}
