public import ErrandJSON
import ErrandSupport

/// The JSON members around the value in a response body such as `{"code": 0, "message": "ok", "data": {…}}`.
///
/// ```swift
/// configuration.validation.envelope = Envelope(value: "data", code: "code", success: [0], message: "message")
/// ```
public struct Envelope: Sendable, Hashable {
  /// True if the envelope of the request's ``RequestFamily`` or of the client applies. A change of any property sets
  /// this flag to false.
  private(set) var isInherited = false
  /// The path of the value in the body; by default the value is the whole body.
  ///
  /// A response type that is decoded from JSON is always read at this path. For `String` and `Data`, which also stand
  /// for texts and pictures without an envelope, the body must be known to be JSON: the envelope has a ``code``, the
  /// request has a shape, or the `Content-Type` of the response is JSON or missing. Otherwise they contain the whole
  /// body.
  public var value: JSONPath { didSet { isInherited = false } }
  /// The path of the business code, by which the server reports success or failure in the body; nil if the body has no
  /// such code.
  public var code: JSONPath? { didSet { isInherited = false } }
  /// The business codes that mean success. With any other code, or without a code, the call fails with
  /// ``APIError/Code/business``.
  public var success: Set<JSONValue> { didSet { isInherited = false } }
  /// The path of the server's message, which is added to the error message; nil if the body has no such message.
  public var message: JSONPath? { didSet { isInherited = false } }

  /// Makes an envelope from the paths of its members and the business codes that mean success.
  public init(
    value: JSONPath = .root, code: JSONPath? = nil, success: Set<JSONValue> = [0], message: JSONPath? = nil
  ) {
    self.value = value
    self.code = code
    self.success = success
    self.message = message
  }

  /// The envelope of the request's ``RequestFamily``, or of the client if the family has none.
  public static let inherited = {
    var envelope = Envelope()
    envelope.isInherited = true
    return envelope
  }()
  /// No envelope: the body is the value itself.
  public static let none = Envelope()

  /// Returns `other` if this envelope is inherited and `other` is not nil; otherwise returns this envelope.
  func filled(by other: Envelope?) -> Envelope { isInherited ? other ?? self : self }

  /// Returns a hint for the error message if the business code differs from a success code only in its type, as the
  /// string "0" differs from the number 0. Otherwise returns nil.
  func confusion(with code: JSONValue) -> String? {
    guard success.contains(where: { $0.messageText.hasSameBytes(as: code.messageText) }) else { return nil }
    return code.stringValue == nil
      ? " (the code is a number, but `Envelope.success` contains it as a string)"
      : " (the code is a string, but `Envelope.success` contains it as a number)"
  }

  /// Returns the business code and the server's message if the body does not report success; otherwise nil.
  func refusal(of body: ParsedJSON) -> (code: JSONValue?, message: String?)? {
    guard let code else { return nil }
    let found = try? body.value(at: code)
    if let found, success.contains(found) { return nil }
    let words = message.flatMap { try? body.value(at: $0) }
    return (found, words?.stringValue)
  }
}
