public import ErrandJSON
public import Foundation

/// The body of a request. If a request has a body, the arguments of the request go into the query.
public struct RequestBody: Sendable {
  enum Content: Sendable {
    case bytes(Data)
    case form(Arguments)
    case json(@Sendable (JSONEncoding) throws -> Data)
    case encoded(name: String, @Sendable () throws -> Data)
    case file(URL)
    case multipart(Multipart)
    case body(HTTPBody)
  }

  let content: Content
  let contentType: String
  /// Whether the request leaves the type of the body open, so that a `Content-Type` of the client or of the
  /// ``RequestFamily`` labels the body. This is so for JSON, and for other bodies whose type was not given.
  let isOpenType: Bool
  /// Whether the body is a text that is sent in UTF-8. JSON and forms are such texts without this flag.
  private(set) var isText = false
  private(set) var coding: BodyCoding?
  private(set) var expectsContinue = false

  private init(_ content: Content, _ contentType: String, isOpenType: Bool = false) {
    self.content = content
    self.contentType = contentType
    self.isOpenType = isOpenType
  }

  /// Makes a body whose type is open if `given` is nil.
  private init(_ content: Content, given: String?, default contentType: String) {
    self.init(content, given ?? contentType, isOpenType: given == nil)
  }

  /// Not available. The body of an `Encodable` value is made by the format.
  @available(*, unavailable, message: "write `.json(value)`, or the method of another format")
  public init(_ value: some Encodable) { self = .text("") }

  /// A body that contains any `Encodable` value as JSON, written by the request's ``Formats/jsonEncoding``.
  public static func json(_ value: some Encodable & Sendable) -> RequestBody {
    RequestBody(.json { try $0.encode(value) }, "application/json", isOpenType: true)
  }

  /// A body that contains a JSON value, such as a literal of mixed values: `.json(["id": 7, "tags": ["a", "b"]])`.
  public static func json(_ value: JSONValue) -> RequestBody {
    RequestBody(.json { try $0.encode(value) }, "application/json", isOpenType: true)
  }

  /// A body that contains a JSON object, whose members are literals and variables of several types:
  /// `.json(["id": 7, "name": name, "tags": tags])`.
  ///
  /// The members are written by the request's ``Formats/jsonEncoding``, which leaves their names as they are. An optional
  /// value that is nil is written as null. If a name is given twice, the last value counts. A nested object with
  /// variables of several types needs a type of its own.
  @_disfavoredOverload
  public static func json(_ members: KeyValuePairs<String, any Encodable & Sendable>) -> RequestBody {
    json(Dictionary(members.map { ($0, Member(value: $1)) }) { _, last in last })
  }

  private struct Member: Encodable, Sendable {
    let value: any Encodable & Sendable

    /// A container, not the value itself, is asked to encode, because it applies the formats of dates and bytes.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  /// A body that the closure `encode` makes when the request is built. The parameter `name` is the name of the body's
  /// format, which error messages show.
  /// - Parameter isText: Whether the closure returns a text in UTF-8.
  package static func encoded(
    as name: String, _ contentType: String, isText: Bool = false, _ encode: @escaping @Sendable () throws -> Data
  ) -> RequestBody {
    var body = RequestBody(.encoded(name: name, encode), contentType)
    body.isText = isText
    return body
  }

  /// A body that contains arguments as a form in UTF-8 (`application/x-www-form-urlencoded`). If an argument is not
  /// ASCII and `Content-Type` names another charset, the call fails with ``APIError/Code/invalidHeader``.
  public static func form(_ arguments: Arguments) -> RequestBody {
    RequestBody(.form(arguments), "application/x-www-form-urlencoded")
  }

  /// A body that contains bytes, which are sent unchanged.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - contentType: The media type; nil for the `Content-Type` of the client or the ``RequestFamily``, or otherwise
  ///     `application/octet-stream`.
  public static func bytes(_ data: Data, type contentType: String? = nil) -> RequestBody {
    RequestBody(.bytes(data), given: contentType, default: binary)
  }

  /// A body that contains a text in UTF-8. If the text is not ASCII and `Content-Type` names another charset, the call
  /// fails with ``APIError/Code/invalidHeader``. To send a text in another charset, send its ``bytes(_:type:)``.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - contentType: The media type; nil for the `Content-Type` of the client or the ``RequestFamily``, or otherwise
  ///     `text/plain; charset=utf-8`.
  public static func text(_ text: String, type contentType: String? = nil) -> RequestBody {
    var body = RequestBody(.bytes(Data(text.utf8)), given: contentType, default: "text/plain; charset=utf-8")
    body.isText = true
    return body
  }

  /// The media type of bytes without a type.
  private static let binary = "application/octet-stream"

  /// A body that contains a file, which is read while it is sent. Only a small part of the file is in memory at a time.
  ///
  /// The file is checked when the request is built. If the file is missing or unreadable, the call fails at once. If
  /// the file changes afterwards, the call fails with ``ErrandHTTP/TransportFailure/Kind/bodyChanged``.
  ///
  /// - Parameters:
  ///   - url: The URL of the file.
  ///   - contentType: The media type; nil to derive it from the file extension.
  public static func file(_ url: URL, type contentType: String? = nil) -> RequestBody {
    RequestBody(.file(url), contentType ?? FileTypes.type(of: url))
  }

  /// A body that contains a form of several parts: fields, JSON, files and streams.
  public static func multipart(_ form: Multipart) -> RequestBody {
    RequestBody(.multipart(form), "multipart/form-data")
  }

  /// A body from a custom source of bytes; see ``ErrandHTTP/HTTPBody/stream(length:isReplayable:_:)``.
  ///
  /// The closure `open` receives a ``ErrandHTTP/BodyFlow``. If a source has no bytes yet, it returns
  /// ``ErrandHTTP/BodyRead/later``. The source then calls ``ErrandHTTP/BodyFlow/resume()`` as soon as bytes are
  /// available.
  ///
  /// If `isReplayable` is false, make the body once and store it in the request: `let body: RequestBody?`. A computed
  /// `body` makes a new body for each call, which does not know that the source is used up.
  ///
  /// - Parameters:
  ///   - length: The length of the body in bytes; nil if the length is unknown.
  ///   - contentType: The media type; nil as for ``bytes(_:type:)``.
  ///   - isReplayable: True if `open` may be called several times. Each source must then provide the same bytes.
  ///   - open: Makes a source of the body. This closure is called on the transport's thread.
  public static func stream(
    length: Int64? = nil, type contentType: String? = nil, isReplayable: Bool = false,
    _ open: @escaping @Sendable (BodyFlow) throws -> any BodySource
  ) -> RequestBody {
    body(.stream(length: length, isReplayable: isReplayable, open), type: contentType)
  }

  /// A body from the pieces of an asynchronous sequence, which is read once; see
  /// ``ErrandHTTP/HTTPBody/pieces(_:length:)``.
  ///
  /// Make the body once and store it in the request: `let body: RequestBody?`. A computed `body` makes a new body for
  /// each call. That of the second call does not know that the sequence is used up, and sends an empty body.
  public static func pieces<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, length: Int64? = nil, type contentType: String? = nil
  ) -> RequestBody where Pieces.Element: DataProtocol & Sendable {
    body(.pieces(pieces, length: length), type: contentType)
  }

  /// A body from an existing ``ErrandHTTP/HTTPBody``, such as a range of a file.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - contentType: The media type; nil as for ``bytes(_:type:)``.
  public static func body(_ body: HTTPBody, type contentType: String? = nil) -> RequestBody {
    RequestBody(.body(body), given: contentType, default: binary)
  }

  // MARK: - Sending

  /// The sources of the body that can be read only once: the body itself, or parts of a form.
  var singleUses: [HTTPBody] {
    switch content {
    case .body(let body): [body].filter { !$0.isReplayable }
    case .multipart(let form): form.parts.compactMap(\.body).filter { !$0.isReplayable }
    case .bytes, .form, .json, .encoded, .file: []
    }
  }

  /// Returns a copy of this body that is sent with `Expect: 100-continue`; see
  /// ``ErrandHTTP/HTTPBody/expectingContinue()``.
  public func expectingContinue() -> RequestBody {
    var body = self
    body.expectsContinue = true
    return body
  }

  /// Returns a copy of this body that is sent with a content coding, such as gzip.
  package func coded(_ coding: BodyCoding) -> RequestBody {
    var body = self
    body.coding = coding
    return body
  }
}

/// A format of request bodies. A small type that conforms to this protocol can encode every `Encodable` value.
///
/// ```swift
/// struct Pack: BodyFormat {
///   let name = "pack"
///   let contentType = "application/x-pack"
///   func encode<Value: Encodable>(_ value: Value) throws -> Data { try PackEncoder().encode(value) }
/// }
/// var body: RequestBody? { .encoded(order, as: Pack()) }
/// ```
///
/// One type may conform to both this protocol and ``ResponseFormat``.
public protocol BodyFormat: Sendable {
  /// The name of the format, which error messages show.
  var name: String { get }
  /// The media type, which is sent as `Content-Type` unless the request's headers set another value.
  var contentType: String { get }
  /// Encodes a value. The function is called once per call, before anything is sent. An error that the function throws
  /// becomes the cause of an error of stage `build` with the code ``APIError/Code/invalidBody``.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension RequestBody {
  /// A body that contains any `Encodable` value in the given format.
  ///
  /// The client's common body arguments are not added, because only forms and JSON objects can contain named arguments.
  public static func encoded<Value: Encodable & Sendable>(
    _ value: Value, as format: some BodyFormat
  ) -> RequestBody {
    encoded(as: format.name, format.contentType) { try format.encode(value) }
  }
}
