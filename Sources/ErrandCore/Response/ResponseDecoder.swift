public import ErrandJSON
public import Foundation

/// Turns the body of an answer into a value.
///
/// ```swift
/// var decoder: ResponseDecoder<Feed> { ResponseDecoder("feed") { body, _ in try Feed(xml: body) } }
/// ```
public struct ResponseDecoder<Value: Sendable>: Sendable {
  /// The format's name, shown in errors.
  public let name: String
  /// What the decoder reads, sent as `Accept` where nobody says anything else.
  public let accept: String
  /// Which content types are taken where the request says nothing; see ``ResponseFormat/contentTypes``.
  public let contentTypes: [String]?
  private let read: @Sendable (HTTPResponse, DecodingRules) throws -> Value
  /// Reads another format in its place; nil for a decoder that somebody chose.
  private var readOther: (@Sendable (HTTPResponse, any ResponseFormat) throws -> Value)?
  /// How the type is read from JSON; nil where it is not.
  let json: JSONRules?
  /// Whether it is known to read the body, so that it has nothing to read where that goes into a file.
  let readsBody: Bool

  /// Makes a decoder of a function of the body and the answer. What it throws becomes the cause of an error of stage
  /// `decode`. It runs off the caller's actor for bodies over 16 KiB.
  public init(
    _ name: String, accept: String = "*/*", contentTypes: [String]? = nil,
    _ decode: @escaping @Sendable (Data, HTTPResponse) throws -> Value
  ) {
    self.init(name: name, accept: accept, contentTypes: contentTypes, readsBody: false) { response, _ in
      try decode(response.body, response)
    }
  }

  /// Whether type and rules alone say what comes out, so that the value may be kept.
  func isByType(_ format: (any ResponseFormat)?) -> Bool {
    if readsOther(format) { return false }
    return if case .shared? = json { true } else { false }
  }

  /// Whether the family's or client's format is read.
  func readsOther(_ format: (any ResponseFormat)?) -> Bool { readOther != nil && format != nil }

  /// Makes the value: in the format of the family or the client where the request declares no decoder.
  func decode(_ response: HTTPResponse, _ rules: DecodingRules) throws -> Value {
    if let readOther, let format = rules.format { return try readOther(response, format) }
    return try read(response, rules)
  }

  /// The name of the format that is read.
  func name(in format: (any ResponseFormat)?) -> String { readOther == nil ? name : format?.name ?? name }

  /// What is sent as `Accept`.
  func accept(in format: (any ResponseFormat)?) -> String { readOther == nil ? accept : format?.accept ?? accept }

  /// Which content types are taken where the request says nothing.
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
  /// The decoder that fits the type: `Data` takes the bytes, `String` the text by the answer's charset, ``Nothing``
  /// nothing, ``DownloadedFile`` the file, and any other `Decodable` type is read from JSON, at the envelope's place
  /// where there is one; or in the family's or client's ``ClientConfiguration/responseFormat``, but for `JSONValue`.
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

  /// JSON, read by rules of its own or by those of the request and the client. An empty body is nil of an optional
  /// type.
  public static func json(_ rules: JSONDecoding? = nil) -> ResponseDecoder {
    let json = rules.map { JSONRules.own($0) } ?? .shared
    return ResponseDecoder(name: "JSON", accept: "application/json", json: json) { response, shared in
      if response.body.isEmpty, let type = Value.self as? any MayBeAbsent.Type { return try Self.cast(type.absence) }
      return try (rules ?? shared.json).decode(
        Value.self, from: response.body, parsed: response.parsed, at: shared.envelope?.value)
    }
  }

  private static func cast(_ value: Any) throws -> Value {
    guard let value = value as? Value else { throw TypeMismatch() }
    return value
  }
}

/// A type that has a value for what is not there.
private protocol MayBeAbsent {
  static var absence: Any { get }
}

extension Optional: MayBeAbsent {
  fileprivate static var absence: Any { Self.none as Any }
}

/// Cannot happen: the types were compared before.
private struct TypeMismatch: Error {}

extension HTTPResponse {
  fileprivate func written() throws(APIError) -> DownloadedFile {
    if let file { return file }
    guard [200, 203, 206].contains(status) else {
      let reason = head.reason.isEmpty ? "" : " \(head.reason)"
      throw APIError(
        .validate, .status, "The server answered \(status)\(reason), which brings no file; 200, 203 and 206 do."
      )
      .with { $0.response = self }
    }
    throw .build(.unsupported, "The answer went into no file; let the request say where to by `download`.")
  }

  /// The body as text, by its byte order mark, by the charset of `Content-Type`, or as UTF-8.
  /// - Throws: ``TextFailure`` where the charset is unknown or the bytes are not of it.
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

  /// Why a body could not be read as text.
  public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String
  }
}

/// Whose rules a decoder reads JSON by.
enum JSONRules: Sendable {
  /// Those of the request or the client.
  case shared
  /// Its own.
  case own(JSONDecoding)
}

/// What the decoders that come with the library go by.
struct DecodingRules: Sendable {
  let json: JSONDecoding
  let envelope: Envelope?
  /// The format of answers whose request declares no decoder; nil for JSON.
  var format: (any ResponseFormat)?
}
