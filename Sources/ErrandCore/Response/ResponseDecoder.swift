public import ErrandJSON
public import Foundation

/// Decodes the body of a response to a value.
///
/// ```swift
/// var decoder: ResponseDecoder<Feed> { ResponseDecoder("feed") { body, _ in try Feed(xml: body) } }
/// ```
public struct ResponseDecoder<Value: Sendable>: Sendable {
  /// The format's name, shown in errors.
  public let name: String
  /// The value of `Accept`, unless the request's headers set it.
  public let accept: String
  /// The content types that are accepted if the request declares none; see ``ResponseFormat/contentTypes``.
  public let contentTypes: [String]?
  private let read: @Sendable (HTTPResponse, DecodingRules) throws -> Value
  /// Reads the value in the format of the family or the client; nil if the request declares its decoder.
  private var readOther: (@Sendable (HTTPResponse, any ResponseFormat) throws -> Value)?
  /// How the type is read from JSON; nil for other formats.
  let json: JSONRules?
  /// True if the decoder certainly reads the body. Then it cannot decode a response whose body was written to a file.
  let readsBody: Bool

  /// Makes a decoder from a function of the body and the response. An error that the function throws becomes the cause
  /// of an error of stage `decode`. For bodies over 16 KiB the function runs off the caller's actor.
  public init(
    _ name: String, accept: String = "*/*", contentTypes: [String]? = nil,
    _ decode: @escaping @Sendable (Data, HTTPResponse) throws -> Value
  ) {
    self.init(name: name, accept: accept, contentTypes: contentTypes, readsBody: false) { response, _ in
      try decode(response.body, response)
    }
  }

  /// True if only the type and the rules determine the value. Then a decoded value may be stored and used again.
  func isByType(_ format: (any ResponseFormat)?) -> Bool {
    if readsOther(format) { return false }
    return if case .shared? = json { true } else { false }
  }

  /// Whether the decoder reads the format of the family or the client.
  func readsOther(_ format: (any ResponseFormat)?) -> Bool { readOther != nil && format != nil }

  /// Decodes the value, in the format of the family or the client if the request declares no decoder.
  func decode(_ response: HTTPResponse, _ rules: DecodingRules) throws -> Value {
    if let readOther, let format = rules.format { return try readOther(response, format) }
    return try read(response, rules)
  }

  /// The name of the format that the decoder reads.
  func name(in format: (any ResponseFormat)?) -> String { readOther == nil ? name : format?.name ?? name }

  /// The value of `Accept`.
  func accept(in format: (any ResponseFormat)?) -> String { readOther == nil ? accept : format?.accept ?? accept }

  /// The content types that are accepted if the request declares none.
  func contentTypes(in format: (any ResponseFormat)?) -> [String]? {
    readOther == nil ? contentTypes : format?.contentTypes ?? contentTypes
  }

  init(
    name: String, accept: String, contentTypes: [String]? = nil, json: JSONRules? = nil, readsBody: Bool = true,
    decode: @escaping @Sendable (HTTPResponse, DecodingRules) throws -> Value
  ) {
    self.json = json
    self.readsBody = readsBody
    self.name = name
    self.accept = accept
    self.contentTypes = contentTypes
    read = decode
  }
}

extension ResponseDecoder where Value: Decodable {
  /// The decoder for the type: `Data` gets the bytes, `String` the text in the charset of the response, ``Nothing``
  /// nothing, and ``DownloadedFile`` the file. Every other `Decodable` type except `JSONValue` is read in
  /// ``ClientConfiguration/responseFormat`` of the family or client if one is set. Otherwise it is read from JSON, at
  /// the value path of the envelope if there is one.
  public static var automatic: ResponseDecoder {
    if Value.self == Data.self {
      ResponseDecoder(name: "bytes", accept: "*/*") { response, _ in try Self.cast(response.body) }
    } else if Value.self == String.self {
      ResponseDecoder(name: "text", accept: "text/*, */*;q=0.5") { response, _ in try Self.cast(response.text()) }
    } else if Value.self == Nothing.self {
      ResponseDecoder(name: "nothing", accept: "*/*", readsBody: false) { _, _ in try Self.cast(Nothing()) }
    } else if Value.self == DownloadedFile.self {
      ResponseDecoder(name: "file", accept: "*/*", readsBody: false) { response, _ in try Self.cast(response.written())
      }
    } else {
      Value.self == JSONValue.self ? json() : jsonOrOther
    }
  }

  private static var jsonOrOther: ResponseDecoder {
    var decoder = json()
    decoder.readOther = { response, format in try format.decode(Value.self, from: response.body, of: response) }
    return decoder
  }

  /// Reads JSON by the given rules, or by the rules of the request and the client. For an optional type an empty body
  /// is nil.
  public static func json(_ rules: JSONDecoding = .inherited) -> ResponseDecoder {
    let json = rules.isInherited ? JSONRules.shared : .own(rules)
    return ResponseDecoder(name: "JSON", accept: "application/json", json: json) { response, shared in
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

/// A type that can represent an absent value.
private protocol MayBeAbsent {
  static var absence: Any { get }
}

extension Optional: MayBeAbsent {
  fileprivate static var absence: Any { Self.none as Any }
}

// The types are compared before each cast, so this error cannot occur.
private struct TypeMismatch: Error {}

extension HTTPResponse {
  fileprivate func written() throws(APIError) -> DownloadedFile {
    if let file { return file }
    guard [200, 203, 206].contains(status) else {
      let reason = head.reason.isEmpty ? "" : " \(head.reason)"
      throw APIError(
        .validate, .status,
        "The server answered \(status)\(reason), which carries no file; only 200, 203 and 206 are accepted."
      )
      .with { $0.response = self }
    }
    throw .build(.unsupported, "The response was not written to a file; declare `download` in the request.")
  }

  /// The body as text, decoded by its byte order mark, by the charset in `Content-Type`, or as UTF-8.
  /// - Throws: ``TextFailure`` if the charset is unknown or the bytes are invalid in it.
  public func text() throws(TextFailure) -> String {
    do {
      return try TextDecoding.text(body, charset: charset)
    } catch {
      switch error {
      case .unknownCharset(let name): throw TextFailure(description: "the charset \"\(name)\" is unknown")
      case .invalidBytes(let name): throw TextFailure(description: "the body is not valid \(name)")
      }
    }
  }

  /// Why a body cannot be decoded as text.
  public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, in words.
    public let description: String
  }
}

/// Which rules a decoder reads JSON by.
enum JSONRules: Sendable {
  /// The rules of the request or the client.
  case shared
  /// Rules that belong to the decoder.
  case own(JSONDecoding)
}

/// The rules of a call for the decoders of the library.
struct DecodingRules: Sendable {
  let json: JSONDecoding
  let envelope: Envelope
  /// The format of responses whose request declares no decoder; nil for JSON.
  var format: (any ResponseFormat)?
}
