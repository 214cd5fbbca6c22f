/// A value could not be written as JSON. The error has the path and the reason.
public struct JSONEncodingError: Error, Sendable {
  /// The path of the failure in the JSON text.
  public let path: JSONPath
  /// The reason for the failure, as an English phrase.
  public let reason: String
  /// The encoder's error. It may contain parts of the value, so do not log it.
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
      self.init(path: path, reason: "JSON cannot represent an infinite number or NaN", underlying: error)
    } else {
      self.init(path: .root, reason: error.description, underlying: error)
    }
  }
}

extension JSONEncodingError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `$.user.height: Unable to encode Double.nan directly in JSON.`
  public var description: String { "\(path): \(reason)" }

  /// The same line as `description`. It omits the underlying error, so that dumps do not show the underlying error.
  public var debugDescription: String { description }

  /// All properties except the underlying error, for dumps.
  public var customMirror: Mirror {
    Mirror(self, children: ["path": path, "reason": reason], displayStyle: .struct)
  }
}
