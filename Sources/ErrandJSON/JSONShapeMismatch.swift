/// The JSON of a body does not have the declared shape. The error has the path, the expectation and the value found.
///
/// The value is shown only if it is short and no key on its path suggests a secret. Otherwise only its type is shown,
/// and for a string its length.
public struct JSONShapeMismatch: Error, Sendable, Hashable {
  /// The kind of mismatch.
  public enum Kind: String, Sendable, Hashable {
    /// The body is empty.
    case emptyBody
    /// The body is not JSON.
    case notJSON
    /// A required key is missing.
    case missingKey
    /// A value has another type than the shape requires, or is not one of the allowed constants.
    case wrongValue
  }

  /// The kind of mismatch.
  public let kind: Kind
  /// The path of the mismatch; the root for a body that is empty or not JSON.
  public let path: JSONPath
  /// The value that the shape requires, in words: `a number`.
  public let expected: String
  /// The value at the path, in words: `the string "x"`, `a string (40 characters)`, `no such key`.
  public let found: String

  init(_ difference: ShapeDifference) {
    kind = difference.found == nil ? .missingKey : .wrongValue
    path = JSONPath(difference.stepsUpward.reversed())
    expected = difference.expected
    found = difference.found.map { [path] in $0.excerptInWords(at: path) } ?? "no such key"
  }

  init(_ error: JSONError, expected: String) {
    kind = error == .empty ? .emptyBody : .notJSON
    path = .root
    self.expected = expected
    found =
      switch error {
      case .empty: "an empty body"
      case .notJSON(let reason, let place): "a body that is not JSON (\(reason)\(place.map { " at \($0)" } ?? ""))"
      case .numberOutOfRange(let number): "a body with the number \(number), which is too large"
      default: "a body that cannot be read: \(error)"
      }
  }
}

extension JSONShapeMismatch: CustomStringConvertible {
  /// One sentence: `$.items[3].level: expected a number, found the string "x"`.
  public var description: String { "\(path): expected \(expected), found \(found)" }
}

extension JSONValue {
  /// Describes the value in words. The result is the value itself if it may be shown, otherwise the type of the value.
  func excerptInWords(at path: JSONPath) -> String {
    let isSecret = JSONMask.isSecret(path)
    switch content {
    case .null, .array, .object: return typeName
    case .string(let string) where isSecret || JSONMask.isLong(string): return "a string (\(string.count) characters)"
    case .string: return "the string \(self)"
    case .bool, .integer, .unsigned, .number:
      if isSecret { return typeName }
      return typeName == "a number" ? "the number \(self)" : "\(self)"
    }
  }
}
