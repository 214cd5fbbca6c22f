/// A value that could not be written as JSON: where and why.
public struct JSONEncodingError: Error, Sendable {
  /// Where in the text that was to be written.
  public let path: JSONPath
  /// Why, in words.
  public let reason: String
  /// The encoder's error. It may hold parts of the value: do not log it.
  public let underlying: any Error

  init(path: JSONPath, reason: String, underlying: any Error) {
    self.path = path
    self.reason = reason
    self.underlying = underlying
  }

  init(_ error: EncodingError) {
    switch error {
    case .invalidValue(_, let context):
      self.init(path: JSONPath(coding: context.codingPath), reason: context.debugDescription, underlying: error)
    @unknown default:
      self.init(path: .root, reason: "the value cannot be written", underlying: error)
    }
  }

  init(_ error: JSONError) {
    if case .notFinite(let path) = error {
      self.init(path: path, reason: "the number is infinite or no number", underlying: error)
    } else {
      self.init(path: .root, reason: error.description, underlying: error)
    }
  }
}

extension JSONEncodingError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `$.user.height: Unable to encode Double.nan directly in JSON.`
  public var description: String { "\(path): \(reason)" }

  /// The same line, so that the underlying error does not appear in dumps.
  public var debugDescription: String { description }

  /// What dumps show: everything but the underlying error.
  public var customMirror: Mirror {
    Mirror(self, children: ["path": path, "reason": reason], displayStyle: .struct)
  }
}
