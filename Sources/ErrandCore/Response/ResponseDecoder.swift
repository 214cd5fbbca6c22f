public import ErrandJSON
import ErrandSupport
public import Foundation

/// Decodes the body of a response to a value.
///
/// ```swift
/// var decoder: ResponseDecoder<Feed> { ResponseDecoder("feed") { body, _ in try Feed(xml: body) } }
/// ```
public struct ResponseDecoder<Value: Sendable>: Sendable {
  let input: DecoderInput
  private let read: @Sendable (HTTPResponse, DecodingRules) throws -> Value
  /// Reads the value in the response format of the ``RequestFamily`` or the client; nil if this decoder always reads
  /// the same format.
  private var readOther: (@Sendable (HTTPResponse, any ResponseFormat) throws -> Value)?

  /// Makes a decoder from a function of the body and the response. An error that the function throws becomes the cause
  /// of an error of stage `decode`. For bodies over 16 KiB, the function does not run on the caller's actor.
  public init(
    _ name: String, accept: String = "*/*", contentTypes: [String]? = nil,
    _ decode: @escaping @Sendable (Data, HTTPResponse) throws -> Value
  ) {
    self.init(DecoderInput(name, accept: accept, contentTypes: contentTypes, readsBody: false)) { response, _ in
      try decode(response.body, response)
    }
  }

  init(_ input: DecoderInput, decode: @escaping @Sendable (HTTPResponse, DecodingRules) throws -> Value) {
    self.input = input
    read = decode
  }

  /// Decodes the value. If the request declares no decoder, the value is in the response format of the
  /// ``RequestFamily`` or the client.
  func decode(_ response: HTTPResponse, _ rules: DecodingRules) throws -> Value {
    if let readOther, let format = rules.format { return try readOther(response, format.value) }
    return try read(response, rules)
  }

  /// Checks whether the dates of a decoded response were read from 1970, although the decoder counts from 2001.
  func epochDates(in response: HTTPResponse, _ rules: DecodingRules) -> JSONEpochDates {
    guard let type = Value.self as? any Decodable.Type, let own = input.json, !input.readsOther(rules.format) else {
      return .none
    }
    return own.filled(by: rules.json).epochDates(of: type, in: response.body, at: rules.envelope.value)
  }
}

extension ResponseDecoder where Value: Decodable {
  /// The decoder that fits the type of the value. `Data` contains the bytes of the body, and `String` contains its text
  /// in the charset of the response. If the envelope has a path ``Envelope/value`` and the body is known to be JSON,
  /// `Data` contains the JSON of the value at this path as it is written, and `String` contains the characters of a
  /// JSON string, or the JSON of any other value; see ``Envelope/value``. ``Nothing`` ignores the body, and
  /// ``DownloadedFile`` is the file that contains the body. ``ProblemDetails`` are read from a body of their media
  /// type. Any other type except `JSONValue` is read in the response format of the ``RequestFamily`` or the client
  /// (``Formats/response``), if a format is set. Otherwise, and for `JSONValue`, the value is read
  /// from JSON, at the path ``Envelope/value`` of the envelope.
  public static var automatic: ResponseDecoder {
    if Value.self == Data.self {
      ResponseDecoder(.bytes) { response, rules in
        try Self.cast(response.bytes(in: rules.envelope))
      }
    } else if Value.self == String.self {
      ResponseDecoder(.text) { response, rules in
        try Self.cast(response.text(in: rules.envelope))
      }
    } else if Value.self == Nothing.self {
      ResponseDecoder(.nothing) { _, _ in try Self.cast(Nothing()) }
    } else if Value.self == DownloadedFile.self {
      ResponseDecoder(.file) { response, _ in try Self.cast(response.written()) }
    } else if Value.self == ProblemDetails.self {
      ResponseDecoder(.problem) { response, _ in try Self.cast(ProblemDetails(response)) }
    } else {
      Value.self == JSONValue.self ? json() : jsonOrOther
    }
  }

  private static var jsonOrOther: ResponseDecoder {
    var decoder = json(.inherited, .jsonOrOther)
    decoder.readOther = { response, format in try format.decode(Value.self, from: response.body, of: response) }
    return decoder
  }

  /// A decoder that reads JSON by the given rules, or by the rules of the request and the client. If the type is
  /// optional, an empty body is decoded as nil.
  public static func json(_ rules: JSONDecoding = .inherited) -> ResponseDecoder {
    json(rules, rules.isInherited ? .json : .json(by: rules))
  }

  private static func json(_ rules: JSONDecoding, _ input: DecoderInput) -> ResponseDecoder {
    ResponseDecoder(input) { response, shared in
      if response.body.isEmpty, let type = Value.self as? any MayBeAbsent.Type { return try Self.cast(type.absence) }
      return try rules.filled(by: shared.json).decode(
        Value.self, from: response.body, parsed: response.parsed, at: shared.envelope.value)
    }
  }

  private static func cast(_ value: Any) throws -> Value {
    guard let value = value as? Value else { throw TypeMismatch() }
    return value
  }
}

/// What a ``ResponseDecoder`` reads. The type is not generic, and it is a class whose common values are made once, so
/// that a call gets its decoder without an allocation and without a copy of these properties.
final class DecoderInput: Sendable {
  let name: String
  let accept: String
  let contentTypes: [String]?
  /// The decoder's own rules for JSON, or ``JSONDecoding/inherited`` for the rules of the request or the client; nil if
  /// the decoder reads another format.
  let json: JSONDecoding?
  /// True if the decoder always reads the body from memory. Such a decoder cannot decode a response whose body was
  /// written to a file. False for decoders of the app, which may ignore the body.
  let readsBody: Bool
  /// True if the decoder reads the response format of the ``RequestFamily`` or the client, if a format is set.
  private let mayReadOther: Bool

  init(
    _ name: String, accept: String, contentTypes: [String]? = nil, json: JSONDecoding? = nil, readsBody: Bool = true,
    mayReadOther: Bool = false
  ) {
    self.name = name
    self.accept = accept
    self.contentTypes = contentTypes
    self.json = json
    self.readsBody = readsBody
    self.mayReadOther = mayReadOther
  }

  static let bytes = DecoderInput("bytes", accept: "*/*")
  static let text = DecoderInput("text", accept: "text/*, */*;q=0.5")
  static let nothing = DecoderInput("nothing", accept: "*/*", readsBody: false)
  static let file = DecoderInput("file", accept: "*/*", readsBody: false)
  static let problem = DecoderInput("problem details", accept: ProblemDetails.mediaType)
  static let json = json(by: .inherited)
  static let jsonOrOther = DecoderInput("JSON", accept: "application/json", json: .inherited, mayReadOther: true)

  static func json(by rules: JSONDecoding) -> DecoderInput {
    DecoderInput("JSON", accept: "application/json", json: rules)
  }

  /// Whether content types and a shape that the ``RequestFamily`` or the client declares concern the body: it is read as
  /// JSON or in the declared format.
  var readsDeclaredFormat: Bool { json != nil || mayReadOther }

  // The parameter `format` of the following functions is the response format of the ``RequestFamily`` or the client.

  /// Whether the response, the value's type and the decoding rules alone determine the value. Such a value may be
  /// stored and used again.
  func isByType(_ format: SharedFormat?) -> Bool {
    !readsOther(format) && json?.isInherited == true
  }

  func readsOther(_ format: SharedFormat?) -> Bool { mayReadOther && format != nil }

  func name(in format: SharedFormat?) -> String { mayReadOther ? format?.value.name ?? name : name }

  func accept(in format: SharedFormat?) -> String { mayReadOther ? format?.value.accept ?? accept : accept }

  /// The content types that are accepted if the request declares none.
  func contentTypes(in format: SharedFormat?) -> [String]? {
    mayReadOther ? format?.value.contentTypes ?? contentTypes : contentTypes
  }
}

/// A type that can represent an absent value, such as an optional.
private protocol MayBeAbsent {
  static var absence: Any { get }
}

extension Optional: MayBeAbsent {
  fileprivate static var absence: Any { Self.none as Any }
}

/// The error of a cast to the wrong type. The error cannot occur, because the types are compared before each cast.
private struct TypeMismatch: Error {}

extension HTTPResponse {
  fileprivate func written() throws(APIError) -> DownloadedFile {
    if let file { return file }
    try checkCarriesFile()
    throw .build(.unsupported, "The response was not written to a file; declare `download` in the request.")
  }

  /// Fails if the status of the response carries no file that a download could store.
  func checkCarriesFile() throws(APIError) {
    guard ![200, 203, 206].contains(status) else { return }
    throw APIError(
      .validate, .status,
      "The server answered \(status)\(head.shownReason), which carries no file; a download needs status 200, 203 or"
        + " 206."
    )
    .with { $0.response = self }
  }

  /// The bytes of the value inside an envelope, or the whole body if the envelope does not apply.
  fileprivate func bytes(in envelope: Envelope) throws -> Data {
    guard isInside(envelope) else { return body }
    return try JSONDecoding.bytes(from: body, parsed: parsed, at: envelope.value)
  }

  /// The text of the value inside an envelope, or the whole body if the envelope does not apply.
  fileprivate func text(in envelope: Envelope) throws -> String {
    guard isInside(envelope) else { return try text() }
    return try JSONDecoding.text(from: body, parsed: parsed, at: envelope.value)
  }

  /// Whether the body is JSON with an envelope: the business code or the shape was checked in it, or its `Content-Type`
  /// is JSON, empty or missing.
  private func isInside(_ envelope: Envelope) -> Bool {
    if envelope.value.steps.isEmpty || body.isEmpty { return false }
    if parsed != nil { return true }
    if let type = fields.mediaType { return type.isJSON }
    return fields.values(of: .contentType).allSatisfy(\.isEmpty)
  }

  /// The body as text, decoded by its byte order mark, by the charset in `Content-Type`, or as UTF-8.
  /// - Throws: ``TextFailure`` if the charset is unknown or the bytes are invalid in this charset.
  public func text() throws(TextFailure) -> String { try TextDecoding.text(body, charset: charset) }

  /// The error if a body cannot be decoded as text.
  public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason as a clause, such as "the body is not valid UTF-8".
    public let description: String
  }
}

/// The rules by which the library's own decoders read the response of one call.
struct DecodingRules: Sendable {
  let json: JSONDecoding
  let envelope: Envelope
  /// The format of responses whose request declares no decoder; nil for JSON.
  var format: SharedFormat?
}
