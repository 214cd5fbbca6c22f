public import ErrandJSON

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
  /// The status codes that count as success; 200 to 299 if no rule is declared.
  public var status: StatusRule
  /// The accepted content types, such as `["application/json", "text/*"]`; nil to inherit them. If no types are
  /// declared, the types of the response format are accepted (``ResponseFormat/contentTypes``). Some formats, such as
  /// XML, list types; other formats accept all types.
  public var contentTypes: [String]?
  /// The structure that the JSON in the body must have, such as its keys and their types; nil to inherit it. If no
  /// shape is declared, any JSON is accepted.
  public var shape: JSONShape?
  /// The JSON members that surround the value in the body, such as a result code and a message; ``Envelope/none`` if
  /// the body is the value itself.
  public var envelope: Envelope
  /// The maximum size of the response body in memory. If no limit is declared,
  /// ``ErrandHTTP/ResponseLimits/bodyBytes`` of the client applies.
  public var bodyLimit: BodyLimit

  /// Makes a validation. Properties that are not given are inherited.
  public init(
    status: StatusRule = .inherited, contentTypes: [String]? = nil, shape: JSONShape? = nil,
    envelope: Envelope = .inherited, bodyLimit: BodyLimit = .inherited
  ) {
    self.status = status
    self.contentTypes = contentTypes
    self.shape = shape
    self.envelope = envelope
    self.bodyLimit = bodyLimit
  }

  /// The validation of the ``RequestFamily`` or the client applies.
  public static let inherited = ResponseValidation()
  /// The defaults of a client.
  static let standard = ResponseValidation(status: .success, envelope: .none)

  /// Returns this validation, with inherited properties taken from `other`.
  func filled(by other: ResponseValidation?) -> ResponseValidation {
    guard let other else { return self }
    return ResponseValidation(
      status: status.filled(by: other.status), contentTypes: contentTypes ?? other.contentTypes,
      shape: shape ?? other.shape, envelope: envelope.filled(by: other.envelope),
      bodyLimit: bodyLimit.filled(by: other.bodyLimit))
  }
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
