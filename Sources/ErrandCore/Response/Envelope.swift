public import ErrandJSON

/// The members around the value in a response such as `{"code": 0, "message": "ok", "data": {…}}`.
///
/// ```swift
/// var envelope: Envelope { Envelope(value: "data", code: "code", success: [0], message: "message") }
/// ```
public struct Envelope: Sendable, Hashable {
  /// True if the envelope of the family or the client applies. Changing any property sets this to false.
  private(set) var isInherited = false
  /// The path of the value; by default the root.
  public var value: JSONPath { didSet { isInherited = false } }
  /// The path of the business code; nil if the response has none.
  public var code: JSONPath? { didSet { isInherited = false } }
  /// The codes that mean success. With any other code, or without a code, the call fails with
  /// ``APIError/Code/business``.
  public var success: Set<JSONValue> { didSet { isInherited = false } }
  /// The path of the server's message, which the error shows.
  public var message: JSONPath? { didSet { isInherited = false } }

  /// Makes an envelope.
  public init(
    value: JSONPath = .root, code: JSONPath? = nil, success: Set<JSONValue> = [0], message: JSONPath? = nil
  ) {
    self.value = value
    self.code = code
    self.success = success
    self.message = message
  }

  /// The envelope of the family or the client.
  public static let inherited = {
    var envelope = Envelope()
    envelope.isInherited = true
    return envelope
  }()
  /// The body is the value itself.
  public static let none = Envelope()

  /// Returns this envelope, or `other` if this envelope is inherited.
  func filled(by other: Envelope?) -> Envelope { isInherited ? other ?? self : self }

  /// A hint about a code that differs from a success code only in its type, such as "0" from 0.
  func confusion(with code: JSONValue) -> String? {
    let text = code.stringValue ?? "\(code)"
    guard success.contains(where: { ($0.stringValue ?? "\($0)") == text }) else { return nil }
    return code.stringValue == nil
      ? " (a number; `success` has it as a string)" : " (a string; `success` has it as a number)"
  }

  /// The business code and the server's message if the body does not report success; otherwise nil.
  func refusal(of body: ParsedJSON) -> (code: JSONValue?, message: String?)? {
    guard let code else { return nil }
    let found = try? body.value(at: code)
    if let found, success.contains(found) { return nil }
    let words = message.flatMap { try? body.value(at: $0) }
    return (found?.detached(), words?.stringValue)
  }
}
