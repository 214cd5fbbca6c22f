/// A body that was refused because its JSON does not have the declared shape: where, what was expected, what was found.
///
/// What was found is shown only if it is short and stands under no key that looks like a secret's; else its type and
/// length are told.
public struct JSONShapeMismatch: Error, Sendable, Hashable {
  /// What was wrong.
  public enum Kind: String, Sendable, Hashable {
    /// The body is empty.
    case emptyBody
    /// The body is not JSON.
    case notJSON
    /// A key is missing.
    case missingKey
    /// A value has another type, or is none of the constants.
    case wrongValue
  }

  /// What was wrong.
  public let kind: Kind
  /// Where; the root for a body that is empty or not JSON.
  public let path: JSONPath
  /// What the shape asks for there, in words: `a number`.
  public let expected: String
  /// What stands there, in words: `the string "x"`, `a string (40 characters)`, `no such key`.
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
  /// The type and, if it may be shown, the value of what lies at a path.
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
