public import ErrandJSON
import ErrandSupport

/// What a response must fulfil: its status, its content type, its structure and its size.
///
/// ```swift
/// var validation: ResponseValidation { ResponseValidation(status: [200, 404], shape: ["name": .string]) }
/// ```
///
/// A request, its ``RequestFamily`` and the client each have a validation. Each property that is not declared is
/// inherited. Content types and a shape of a family or a client apply only to calls that read JSON or the declared
/// format (``Formats/response``): not to bytes, texts, files, streams, ``Nothing`` and decoders of other formats.
public struct ResponseValidation: Sendable, Hashable {
  private struct Parts: Sendable, Hashable {
    var status = StatusRule.inherited
    var contentTypes: [String]?
    var shape: JSONShape?
    var envelope = Envelope.inherited
    var bodyLimit = BodyLimit.inherited
  }

  /// The properties in one object, which the calls of a client share instead of copying it; nil if all are inherited.
  private var parts: Boxed<Parts>?

  /// The status codes that count as success; 200 to 299 if no rule is declared.
  public var status: StatusRule {
    get { parts?.value.status ?? .inherited }
    set { change { $0.status = newValue } }
  }
  /// The accepted content types, such as `["application/json", "text/*"]`; nil to inherit them. Parameters, such as
  /// `; charset=utf-8`, are not compared. If no types are declared, the types of the response format are accepted
  /// (``ResponseFormat/contentTypes``). Some formats, such as XML, list types; other formats accept all types.
  public var contentTypes: [String]? {
    get { parts?.value.contentTypes }
    set { change { $0.contentTypes = newValue } }
  }
  /// The structure that the JSON in the body must have, such as its keys and their types; nil to inherit it. If no
  /// shape is declared, any JSON is accepted.
  public var shape: JSONShape? {
    get { parts?.value.shape }
    set { change { $0.shape = newValue } }
  }
  /// The JSON members that surround the value in the body, such as a result code and a message; ``Envelope/none`` if
  /// the body is the value itself.
  public var envelope: Envelope {
    get { parts?.value.envelope ?? .inherited }
    set { change { $0.envelope = newValue } }
  }
  /// The maximum size of the response body in memory. If no limit is declared,
  /// ``ErrandHTTP/ResponseLimits/bodyBytes`` of the client applies.
  public var bodyLimit: BodyLimit {
    get { parts?.value.bodyLimit ?? .inherited }
    set { change { $0.bodyLimit = newValue } }
  }

  /// Makes a validation. Properties that are not given are inherited.
  public init(
    status: StatusRule = .inherited, contentTypes: [String]? = nil, shape: JSONShape? = nil,
    envelope: Envelope = .inherited, bodyLimit: BodyLimit = .inherited
  ) {
    parts = Boxed(
      Parts(status: status, contentTypes: contentTypes, shape: shape, envelope: envelope, bodyLimit: bodyLimit))
  }

  private init(_ parts: Boxed<Parts>?) { self.parts = parts }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var changed = parts?.value ?? Parts()
    body(&changed)
    parts = Boxed(changed)
  }

  /// The validation of the ``RequestFamily`` or the client applies.
  public static let inherited = ResponseValidation(nil)
  /// The defaults of a client.
  static let standard = ResponseValidation(status: .success, envelope: .none)

  /// Returns this validation, with inherited properties taken from `other`.
  func filled(by other: ResponseValidation?) -> ResponseValidation {
    guard let others = other?.parts else { return self }
    guard let own = parts else { return ResponseValidation(others) }
    return ResponseValidation(
      Boxed(
        Parts(
          status: own.value.status.filled(by: others.value.status),
          contentTypes: own.value.contentTypes ?? others.value.contentTypes,
          shape: own.value.shape ?? others.value.shape,
          envelope: own.value.envelope.filled(by: others.value.envelope),
          bodyLimit: own.value.bodyLimit.filled(by: others.value.bodyLimit))))
  }

  /// Whether the response must be parsed as JSON to decide if the response is accepted.
  var readsJSON: Bool { shape != nil || envelope.code != nil }

  /// Validations with equal properties are equal.
  public static func == (left: ResponseValidation, right: ResponseValidation) -> Bool {
    left.parts == right.parts || (left.parts?.value ?? Parts()) == (right.parts?.value ?? Parts())
  }

  /// Hashes the properties.
  public func hash(into hasher: inout Hasher) { hasher.combine(parts?.value ?? Parts()) }
}

/// The maximum size of a response body in memory.
///
/// ```swift
/// var validation: ResponseValidation { ResponseValidation(bodyLimit: .bytes(64 << 10)) }
/// ```
///
/// With a longer body the call fails with ``ErrandHTTP/TransportFailure/Kind/tooLarge``, unless the status is 400 or
/// higher; see ``ErrandHTTP/ResponseLimits/bodyBytes``. The limit applies to bodies that a server sends and that are
/// decoded in memory, not to downloads, body sinks and stored responses.
public enum BodyLimit: Sendable, Hashable {
  /// The limit of the ``RequestFamily``, otherwise of the client's validation, otherwise
  /// ``ErrandHTTP/ResponseLimits/bodyBytes`` of the client's limits.
  case inherited
  /// A number of bytes after content decoding. A negative number counts as 0.
  case bytes(Int)

  func filled(by other: BodyLimit) -> BodyLimit { self == .inherited ? other : self }
}

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
  /// The path of the server's message, which is added to the error message and is the error's
  /// ``APIError/serverMessage``; nil if the body has no such message.
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

  func filled(by other: Envelope?) -> Envelope { isInherited ? other ?? self : self }

  /// Returns a hint for the error message if the business code differs from a success code only in its type, as the
  /// string "0" differs from the number 0. Otherwise returns nil.
  func confusion(with code: JSONValue) -> String? {
    guard success.contains(where: { $0.messageText.hasSameBytes(as: code.messageText) }) else { return nil }
    return code.stringValue == nil
      ? " (the code is a number, but `Envelope.success` contains it as a string)"
      : " (the code is a string, but `Envelope.success` contains it as a number)"
  }

  /// Returns the business code and the server's message if the body does not report success; otherwise nil. An empty
  /// message is nil.
  func refusal(of body: ParsedJSON) -> (code: JSONValue?, message: String?)? {
    guard let code else { return nil }
    let found = try? body.value(at: code)
    if let found, success.contains(found) { return nil }
    let words = message.flatMap { try? body.value(at: $0) }
    return (found, words?.stringValue.flatMap { $0.isEmpty ? nil : $0 })
  }
}
