import ErrandCore
import ErrandJSON
import Foundation

/// The file of a ``Recording``: JSON in UTF-8, indented, with sorted keys.
///
/// ```json
/// {
///   "exchanges" : [
///     {
///       "request" : {
///         "body" : { "text" : "{\"name\":\"Ada\",\"password\":\"masked\"}" },
///         "fields" : [ "Content-Type: application/json", "Authorization: Bearer masked" ],
///         "method" : "POST",
///         "url" : "https://api.example.com/login?token=masked"
///       },
///       "response" : {
///         "body" : { "text" : "{\"id\":7}" },
///         "fields" : [ "Content-Type: application/json" ],
///         "status" : 200,
///         "version" : "HTTP/1.1"
///       }
///     }
///   ],
///   "format" : "errand-recording",
///   "masked" : { "fields" : [], "items" : [], "paths" : [], "shown" : [] },
///   "version" : 1
/// }
/// ```
///
/// - A body has `text` if its bytes are valid UTF-8, otherwise `base64`. A request without a body has no `body`.
/// - A response may have `reason`, `trailers` and `informational`, which is a list of responses without a body.
/// - A failed exchange has a `failure`, with `kind` and `text`, instead of a `response`. If the response body is
///   incomplete, the exchange has both.
/// - In a failure, `certainlyNotSent` is true if no server has received the request. If the key is missing, it
///   is false after a response; otherwise the kind decides, as in ``ScriptedAnswer/failure(_:_:isCertainlyNotSent:)``.
///
/// A file that is written by hand needs `format`, `version` and `exchanges`, of a request `method` and `url`, of a
/// response `status`, and of a failure `kind` and `text`. A missing `masked` masks only values whose names suggest a
/// secret, a missing `fields` means that there are no fields, and a missing `version` of a response means HTTP/1.1.
///
/// Unknown keys are ignored. The version increases only if the format changes in a way that older versions of the
/// library would misinterpret.
struct RecordingFile: Codable {
  static let formatName = "errand-recording"
  static let knownVersion = 1

  var format: String
  var version: Int
  /// The values to mask; nil if the recording's file does not contain this key.
  var masked: RecordingMask?
  var exchanges: [Exchange]

  struct Exchange: Codable {
    var request: Request
    var response: Response?
    var failure: Failure?
  }

  struct Request: Codable {
    var method: String
    var url: String
    var fields: [String]?
    var body: Body?
  }

  struct Response: Codable {
    var status: Int
    var reason: String?
    var version: String?
    var fields: [String]?
    var body: Body?
    var trailers: [String]?
    var informational: [Response]?
  }

  struct Failure: Codable {
    var kind: String
    var text: String
    /// True if no server has received the request; nil if the recording's file does not contain this key.
    var certainlyNotSent: Bool?

    init(_ failure: TransportFailure, hasResponse: Bool) {
      kind = failure.kind.rawValue
      text = failure.description
      // False is written only if a reader would conclude true from the kind.
      let isUsual = !hasResponse && failure.kind.meansCertainlyNotSent
      certainlyNotSent = failure.isCertainlyNotSent ? true : isUsual ? false : nil
    }

    func value(hasResponse: Bool) -> TransportFailure {
      let kind = TransportFailure.Kind(rawValue: kind)
      let isUsual = !hasResponse && kind.meansCertainlyNotSent
      return TransportFailure(kind, text, isCertainlyNotSent: certainlyNotSent ?? isUsual)
    }
  }

  struct Body: Codable {
    var text: String?
    var base64: String?
  }

  /// The keys of a recording's file that are read first. The other keys are read only if this library knows the format
  /// and the version of the file.
  private struct Header: Decodable {
    var format: String
    var version: Int
  }

  func serialized() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Parses the bytes of a recording's file. Errors contain `name` as the name of the file.
  static func recording(in data: Data, named name: String) throws(RecordingError) -> Recording {
    let header = try decode(Header.self, data, name)
    guard header.format == formatName else {
      throw RecordingError.damaged(path: name, reason: "its format is \"\(header.format)\", not \"\(formatName)\"")
    }
    guard header.version <= knownVersion else {
      throw RecordingError.newer(path: name, version: header.version, known: knownVersion)
    }
    let file = try decode(RecordingFile.self, data, name)
    do throws(RecordingFlaw) {
      return try file.recording()
    } catch {
      throw RecordingError.damaged(path: name, reason: error.description)
    }
  }

  private static func decode<T: Decodable>(
    _ type: T.Type, _ data: Data, _ name: String
  ) throws(RecordingError) -> T {
    do {
      return try JSONDecoding.standard.decode(type, from: data)
    } catch {
      throw RecordingError.damaged(path: name, reason: error.description)
    }
  }
}

/// The error for a recording's file that is valid JSON but contains an invalid value.
struct RecordingFlaw: Error, CustomStringConvertible {
  let path: JSONPath
  let reason: String

  var description: String { "\(path): \(reason)" }
}

// MARK: - Writing

extension RecordingFile {
  init(_ recording: Recording) {
    self.init(
      format: Self.formatName, version: Self.knownVersion, masked: recording.mask,
      exchanges: recording.exchanges.map(Exchange.init))
  }
}

extension RecordingFile.Exchange {
  init(_ exchange: RecordedExchange) {
    let (request, answer) = (exchange.request, exchange.answer)
    self.request = RecordingFile.Request(
      method: request.method.rawValue, url: request.url.string, fields: RecordingFile.lines(request.fields),
      body: request.body?.data.map(RecordingFile.Body.init))
    response = answer.failure == nil ? RecordingFile.Response(answer) : nil
    failure = (answer.failure ?? answer.breakage).map {
      RecordingFile.Failure($0, hasResponse: answer.failure == nil)
    }
  }
}

extension RecordingFile.Response {
  init(_ head: ResponseHead) {
    status = head.status
    reason = head.reason.isEmpty ? nil : head.reason
    version = head.version.rawValue
    fields = RecordingFile.lines(head.fields)
  }

  init(_ answer: ScriptedAnswer) {
    self.init(answer.head)
    body = RecordingFile.Body(answer.body)
    trailers = answer.trailers.isEmpty ? nil : RecordingFile.lines(answer.trailers)
    informational = answer.informational.isEmpty ? nil : answer.informational.map { .init($0) }
  }
}

extension RecordingFile.Body {
  init(_ data: Data) {
    text = String(validating: data, as: UTF8.self)
    base64 = text == nil ? data.base64EncodedString() : nil
  }
}

extension RecordingFile {
  fileprivate static func lines(_ fields: HTTPFields) -> [String] {
    fields.all.map { "\($0.name): \($0.value)" }
  }
}

// MARK: - Reading

extension RecordingFile {
  func recording() throws(RecordingFlaw) -> Recording {
    var recording = Recording(mask: masked ?? RecordingMask())
    for (index, exchange) in exchanges.enumerated() {
      let place = JSONPath.root.appending(key: "exchanges").appending(index: index)
      recording.exchanges.append(try exchange.value(at: place))
    }
    return recording
  }

  fileprivate static func fields(_ lines: [String], _ place: JSONPath) throws(RecordingFlaw) -> HTTPFields {
    var fields = HTTPFields()
    for (index, line) in lines.enumerated() {
      // Bytes, because a space or a colon and a combining mark after it are one `Character`.
      let bytes = line.utf8
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else {
        throw RecordingFlaw(path: place.appending(index: index), reason: "a field must have the form \"Name: value\"")
      }
      let value = bytes[bytes.index(after: colon)...].drop { $0 == UInt8(ascii: " ") }
      fields.append(HTTPField(HTTPFieldName(String(line[..<colon])), String(Substring(value))))
    }
    return fields
  }
}

extension RecordingFile.Exchange {
  func value(at place: JSONPath) throws(RecordingFlaw) -> RecordedExchange {
    let failure = failure?.value(hasResponse: response != nil)
    var answer = ScriptedAnswer()
    if let response {
      answer = try response.value(at: place.appending(key: "response"))
      answer.breakage = failure
    } else if let failure {
      answer.failure = failure
    } else {
      throw RecordingFlaw(path: place, reason: "an exchange must have a response, a failure, or both")
    }
    let request = try request.value(at: place.appending(key: "request"))
    // The file may have been edited by hand, so the length field is corrected. A response without content (HEAD, 304)
    // keeps its `Content-Length`, which states the length that the content would have in response to GET.
    if request.method != .head, answer.head.status != 304, answer.breakage == nil, !answer.body.isEmpty {
      answer.fitLength()
    }
    return RecordedExchange(request: request, answer: answer)
  }
}

extension RecordingFile.Request {
  func value(at place: JSONPath) throws(RecordingFlaw) -> HTTPRequest {
    let url: HTTPURL
    do {
      url = try HTTPURL(self.url)
    } catch {
      throw RecordingFlaw(path: place.appending(key: "url"), reason: error.description)
    }
    let body = try body?.value(at: place.appending(key: "body"))
    return HTTPRequest(
      method: HTTPMethod(method), url: url,
      fields: try RecordingFile.fields(fields ?? [], place.appending(key: "fields")), body: body.map(HTTPBody.init))
  }
}

extension RecordingFile.Response {
  func value(at place: JSONPath) throws(RecordingFlaw) -> ScriptedAnswer {
    var answer = ScriptedAnswer()
    answer.head = try head(at: place)
    answer.body = try body?.value(at: place.appending(key: "body")) ?? Data()
    answer.trailers = try RecordingFile.fields(trailers ?? [], place.appending(key: "trailers"))
    for (index, one) in (informational ?? []).enumerated() {
      let place = place.appending(key: "informational").appending(index: index)
      answer.informational.append(try one.head(at: place))
    }
    return answer
  }

  private func head(at place: JSONPath) throws(RecordingFlaw) -> ResponseHead {
    guard (100...999).contains(status) else {
      throw RecordingFlaw(path: place.appending(key: "status"), reason: "a status must be a number from 100 to 999")
    }
    guard let version = version.map({ ResponseHead.Version(rawValue: $0) }) ?? .http1_1 else {
      let known = "HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3"
      throw RecordingFlaw(path: place.appending(key: "version"), reason: "the version must be \(known)")
    }
    let fields = try RecordingFile.fields(fields ?? [], place.appending(key: "fields"))
    return ResponseHead(status: status, reason: reason ?? "", version: version, fields: fields)
  }
}

extension RecordingFile.Body {
  func value(at place: JSONPath) throws(RecordingFlaw) -> Data {
    if let text { return Data(text.utf8) }
    guard let base64 else { throw RecordingFlaw(path: place, reason: "a body must have `text` or `base64`") }
    guard let data = Data(base64Encoded: base64) else {
      throw RecordingFlaw(path: place.appending(key: "base64"), reason: "the value is not valid Base64")
    }
    return data
  }
}
