/// A body that could not be read in its format: what is wrong, where, and what helps.
///
/// The sentence quotes no values, so that no secret gets into a log by it; names of elements and keys it does quote.
public struct FormatFailure: Error, Sendable {
  /// Why, in a form that can be switched over.
  public enum Kind: String, Sendable, Hashable {
    /// There is no byte.
    case empty
    /// The bytes are not of the format, or break off.
    case malformed
    /// The body is legal, but has what is never taken: entities of its own, or an object that holds itself.
    case forbidden
    /// A limit is passed.
    case limit
    /// A key is missing.
    case missing
    /// A value does not fit its type.
    case mismatch
  }

  /// Why, in a form that can be switched over.
  public let kind: Kind
  /// What is wrong and what helps, in words, without the place.
  public let reason: String
  /// The line, counted from 1; nil where the format has none, or the value was read and only did not fit its type.
  public let line: Int?
  /// The byte in the line, counted from 1, in UTF-8.
  public let column: Int?
  /// The place of a value that did not fit, such as `catalog.book[2].price`; empty for the whole.
  public let path: String
  /// The decoder's own error, where there is one. It may quote values: do not log it.
  public let underlying: (any Error)?

  /// Makes a failure; formats of your own may throw it, too.
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

  /// A decoder's error in words, its keys as a path.
  ///
  /// - Parameters:
  ///   - error: What the decoder threw; a failure of this type is taken as it is.
  ///   - root: What the path begins with, such as the name of the document's first element.
  public init(_ error: any Error, root: String = "") {
    switch error {
    case let error as FormatFailure: self = error
    case DecodingError.keyNotFound(let key, let context):
      self.init(.missing, "it is missing", path: Self.path(root, context.codingPath + [key]), underlying: error)
    case DecodingError.valueNotFound(_, let context):
      self.init(.missing, "nothing stands there", path: Self.path(root, context.codingPath), underlying: error)
    case DecodingError.typeMismatch(let type, let context):
      self.init(.mismatch, "no \(type) stands there", path: Self.path(root, context.codingPath), underlying: error)
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

  /// The same line, so that the underlying error does not appear in dumps.
  public var debugDescription: String { description }

  /// What dumps show: everything but the underlying error.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: ["kind": kind, "reason": reason, "line": line as Any, "column": column as Any, "path": path],
      displayStyle: .struct)
  }
}
