import ErrandJSON
import Foundation

/// Builds request bodies. Adds the client's common arguments to form bodies and to JSON objects.
struct BodyBuilder {
  /// A request body, together with the values of its fields `Content-Type` and `Content-Encoding`.
  struct Body {
    var body: HTTPBody
    let contentType: String
    var coding: String?

    /// Whether a content type of the client or of the ``RequestFamily`` may label the body; see
    /// ``RequestBody/isOpenType``.
    let isOpenType: Bool
    /// Whether the body is a text in UTF-8.
    var isText: Bool

    init(_ body: HTTPBody, _ contentType: String, isOpenType: Bool = false, isText: Bool = false) {
      self.body = body
      self.contentType = contentType
      self.isOpenType = isOpenType
      self.isText = isText
    }

    init(_ data: Data, _ contentType: String, isOpenType: Bool = false, isText: Bool = false) {
      self.init(HTTPBody(data), contentType, isOpenType: isOpenType, isText: isText)
    }
  }

  let style: ArgumentStyle
  let encoding: JSONEncoding
  let common: (@Sendable () -> Arguments)?

  func body(_ declared: RequestBody) throws(APIError) -> Body {
    var made = try plain(declared)
    if declared.isText { made.isText = true }
    if let coding = declared.coding {
      do {
        made.body = try coding.body(made.body)
      } catch {
        throw .build(.invalidBody, APIError.sentence("the body's content coding failed: \(error)"), cause: error)
      }
      made.coding = coding.name
    }
    if declared.expectsContinue { made.body = made.body.expectingContinue() }
    return made
  }

  private func plain(_ declared: RequestBody) throws(APIError) -> Body {
    switch declared.content {
    case .bytes(let data): return Body(data, declared.contentType, isOpenType: declared.isOpenType)
    case .form(let arguments): return try form(merged(arguments))
    case .file(let url): return Body(try .file(url), declared.contentType)
    case .multipart(let form):
      let (body, boundary) = try MultipartWriter(parts: form.parts, encoding: encoding).body()
      return Body(body, "\(declared.contentType); boundary=\(boundary)")
    case .body(let body):
      if let obstacle = body.obstacle { throw .build(.invalidBody, "The body cannot be sent: \(obstacle).") }
      return Body(body, declared.contentType, isOpenType: declared.isOpenType)
    case .json(let encode): return try json(encode)
    case .encoded(let name, let encode):
      return Body(try written(as: name, encode), declared.contentType)
    }
  }

  private func written(as name: String, _ encode: () throws -> Data) throws(APIError) -> Data {
    do {
      return try encode()
    } catch {
      if let error = error as? APIError { throw error }
      let clause = "the body could not be encoded as \(name): \(APIError.writingClause(error))"
      throw .build(.invalidBody, APIError.sentence(clause), cause: error)
    }
  }

  private func json(_ encode: (JSONEncoding) throws -> Data) throws(APIError) -> Body {
    json(try written(as: "JSON") { try withCommon(try encode(encoding)) })
  }

  private func json(_ data: Data) -> Body { Body(data, "application/json", isOpenType: true, isText: true) }

  /// Builds a form body. If `unlessEmpty` is true, returns nil if there are no arguments.
  func form(_ arguments: Arguments, unlessEmpty: Bool) throws(APIError) -> Body? {
    let arguments = merged(arguments)
    if unlessEmpty, arguments.isEmpty { return nil }
    return try form(arguments)
  }

  /// Builds a JSON body from arguments and inherited ones. If `unlessEmpty` is true, returns nil if there are none. The
  /// arguments are merged by the names that are sent, so the names are converted first.
  func json(_ own: Arguments, over inherited: Arguments, unlessEmpty: Bool) throws(APIError) -> Body? {
    let arguments = [inherited, common?() ?? Arguments()].reduce(own.named(by: encoding)) {
      $0.merged(over: $1.named(by: encoding))
    }
    if unlessEmpty, arguments.isEmpty { return nil }
    let value = try ArgumentWriter(style: style).json(arguments, by: encoding)
    do {
      return json(try value.serialized())
    } catch {
      throw .build(.invalidBody, APIError.sentence("the body could not be encoded as JSON: \(error)"), cause: error)
    }
  }

  private func form(_ arguments: Arguments) throws(APIError) -> Body {
    var out: [UInt8] = []
    try ArgumentWriter(style: style).appendPairs(arguments, to: &out, asForm: true)
    return Body(Data(out), "application/x-www-form-urlencoded", isText: true)
  }

  private func merged(_ arguments: Arguments) -> Arguments {
    arguments.merged(over: common?() ?? Arguments())
  }

  private func withCommon(_ data: Data) throws -> Data {
    guard let common = common?(), !common.isEmpty,
      let object = try ArgumentWriter(style: style).json(common.named(by: encoding), by: encoding).objectValue
    else { return data }
    do {
      return try JSONEncoding.merge(object, into: data)
    } catch JSONError.notAnObject(let found) {
      throw APIError.build(
        .invalidBody,
        "The client's common body arguments can only be added to a JSON object, but this body is \(found); "
          + "send a JSON object, or send the JSON with `RequestBody.bytes`.")
    }
  }
}
