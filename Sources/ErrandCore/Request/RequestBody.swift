public import ErrandJSON
public import Foundation

/// A request body. If a request has one, its arguments go into the query.
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
  private(set) var coding: BodyCoding?
  private(set) var expectsContinue = false

  private init(_ content: Content, _ contentType: String) {
    self.content = content
    self.contentType = contentType
  }

  /// Any `Encodable` value as JSON, written by the request's ``APIRequest/jsonEncoding``.
  public static func json(_ value: some Encodable & Sendable) -> RequestBody {
    RequestBody(.json { try $0.encode(value) }, "application/json")
  }

  /// A JSON value, such as a literal of mixed values: `.json(["id": 7, "tags": ["a", "b"]])`.
  public static func json(_ value: JSONValue) -> RequestBody {
    RequestBody(.json { try $0.encode(value) }, "application/json")
  }

  /// A body that `encode` produces when the call is built. Error messages call the format `name`.
  package static func encoded(
    as name: String, _ contentType: String, _ encode: @escaping @Sendable () throws -> Data
  ) -> RequestBody {
    RequestBody(.encoded(name: name, encode), contentType)
  }

  /// Arguments as a form, in UTF-8.
  public static func form(_ arguments: Arguments) -> RequestBody {
    RequestBody(.form(arguments), "application/x-www-form-urlencoded")
  }

  /// Bytes, which are sent unchanged.
  public static func bytes(_ data: Data, type contentType: String = "application/octet-stream") -> RequestBody {
    RequestBody(.bytes(data), contentType)
  }

  /// A text in UTF-8.
  public static func text(_ text: String, type contentType: String = "text/plain; charset=utf-8") -> RequestBody {
    RequestBody(.bytes(Data(text.utf8)), contentType)
  }

  /// A file that is read while it is sent. Only a small part of the file is in memory at a time.
  ///
  /// The file is checked when the call is built; a missing or unreadable file fails the call at that point. If the file
  /// changes afterwards, the call fails with ``ErrandHTTP/TransportFailure/Kind/bodyChanged``.
  ///
  /// - Parameters:
  ///   - url: The URL of the file.
  ///   - contentType: The media type; nil to derive it from the file extension.
  public static func file(_ url: URL, type contentType: String? = nil) -> RequestBody {
    RequestBody(.file(url), contentType ?? FileTypes.type(of: url))
  }

  /// A form of several parts: fields, JSON, files and streams.
  public static func multipart(_ form: Multipart) -> RequestBody {
    RequestBody(.multipart(form), "multipart/form-data")
  }

  /// A custom source; see ``ErrandHTTP/HTTPBody/stream(length:isReplayable:_:)``.
  ///
  /// - Parameters:
  ///   - length: The length of the body in bytes; nil if unknown.
  ///   - contentType: The media type.
  ///   - isReplayable: True if `open` may be called again and each new source gives the same bytes.
  ///   - open: Makes a source, on the transport's thread. The argument of `open` resumes the body after the source has
  ///     returned ``ErrandHTTP/BodyRead/later``.
  public static func stream(
    length: Int64? = nil, type contentType: String = "application/octet-stream", isReplayable: Bool = false,
    _ open: @escaping @Sendable (BodyFlow) throws -> any BodySource
  ) -> RequestBody {
    body(.stream(length: length, isReplayable: isReplayable, open), type: contentType)
  }

  /// The pieces of an asynchronous sequence, which is read once; see ``ErrandHTTP/HTTPBody/pieces(_:length:)``.
  public static func pieces<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, length: Int64? = nil, type contentType: String = "application/octet-stream"
  ) -> RequestBody where Pieces.Element: DataProtocol & Sendable {
    body(.pieces(pieces, length: length), type: contentType)
  }

  /// An existing body, such as a range of a file.
  public static func body(_ body: HTTPBody, type contentType: String = "application/octet-stream") -> RequestBody {
    RequestBody(.body(body), contentType)
  }

  // MARK: - Sending

  /// Returns this body with `Expect: 100-continue`; see ``ErrandHTTP/HTTPBody/expectingContinue()``.
  public func expectingContinue() -> RequestBody {
    var body = self
    body.expectsContinue = true
    return body
  }

  /// Returns this body with a content coding.
  package func coded(_ coding: BodyCoding) -> RequestBody {
    var body = self
    body.coding = coding
    return body
  }
}
