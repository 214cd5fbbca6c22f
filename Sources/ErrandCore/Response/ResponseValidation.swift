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

  private init() { parts = nil }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var changed = parts?.value ?? Parts()
    body(&changed)
    parts = Boxed(changed)
  }

  /// The validation of the ``RequestFamily`` or the client applies.
  public static let inherited = ResponseValidation()
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

  private init(_ parts: Boxed<Parts>) { self.parts = parts }

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

  /// Returns `other` if this limit is inherited; otherwise returns this limit.
  func filled(by other: BodyLimit) -> BodyLimit { self == .inherited ? other : self }
}
