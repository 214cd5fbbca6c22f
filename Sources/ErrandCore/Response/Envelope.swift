public import ErrandJSON

/// What stands round the value in an answer such as `{"code": 0, "message": "ok", "data": {…}}`.
///
/// ```swift
/// var envelope: Envelope? { Envelope(value: "data", code: "code", success: [0], message: "message") }
/// ```
public struct Envelope: Sendable, Hashable {
  /// Where the value lies; the root where nothing is said.
  public var value: JSONPath
  /// Where the business code lies; nil where there is none.
  public var code: JSONPath?
  /// The codes that mean success. Any other, or none, fails the call with ``APIError/Code/business``.
  public var success: Set<JSONValue>
  /// Where the server's words lie; shown in the error.
  public var message: JSONPath?

  /// Makes an envelope.
  public init(
    value: JSONPath = .root, code: JSONPath? = nil, success: Set<JSONValue> = [0], message: JSONPath? = nil
  ) {
    self.value = value
    self.code = code
    self.success = success
    self.message = message
  }

  /// Nothing stands round the value: for a request, such as a picture, whose client or family has an envelope.
  ///
  public static let bare = Envelope()

  /// A word on a code that differs from success in its kind alone, such as "0" from 0.
  func confusion(with code: JSONValue) -> String? {
    let text = code.stringValue ?? "\(code)"
    guard success.contains(where: { ($0.stringValue ?? "\($0)") == text }) else { return nil }
    return code.stringValue == nil
      ? " (a number; `success` has it as a string)" : " (a string; `success` has it as a number)"
  }

  /// What a body says against success, or nil: the business code and the server's words.
  func refusal(of body: ParsedJSON) -> (code: JSONValue?, message: String?)? {
    guard let code else { return nil }
    let found = try? body.value(at: code)
    if let found, success.contains(found) { return nil }
    let words = message.flatMap { try? body.value(at: $0) }
    return (found?.detached(), words?.stringValue)
  }
}
