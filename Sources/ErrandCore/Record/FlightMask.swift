import ErrandJSON
import ErrandSupport
import Foundation

/// Masks the texts of a recorded call.
package struct FlightMask: Sendable {
  private let detail: FlightRecording.Detail
  /// The secrets in the requests and responses of the call.
  private let secrets: SecretSearch
  /// Whether the texts of responses are hidden, because a request body could not be searched for secrets that the server
  /// may repeat.
  private let hidesResponses: Bool

  init(_ detail: FlightRecording.Detail, _ requests: [HTTPRequest], _ responses: [HTTPFields]) {
    self.detail = detail
    var secrets = KnownSecrets()
    if detail != .everything {
      for request in requests {
        secrets.add(request.fields)
        secrets.add(
          named: request.fields, url: request.url.string, body: request.body?.data, isWhole: request.isComparable)
      }
      for fields in responses {
        secrets.add(fields)
        secrets.add(named: fields)
      }
    }
    (self.secrets, hidesResponses) = (secrets.search, secrets.isIncomplete)
  }

  /// An exchange in an HTTP archive.
  package struct ArchivedExchange {
    let url: String
    let requestFields: HTTPFields
    let requestBody: String?
    /// The length of the whole request body in bytes; nil if it is unknown.
    let requestBodySize: Int?
    let responseFields: HTTPFields

    package init(
      url: String, requestFields: HTTPFields, requestBody: String?, requestBodySize: Int?, responseFields: HTTPFields
    ) {
      (self.url, self.requestFields) = (url, requestFields)
      (self.requestBody, self.requestBodySize, self.responseFields) = (requestBody, requestBodySize, responseFields)
    }

    /// The bytes of the request body that are searched for secrets. A text that states only the length of a body was
    /// written with knowledge of the body, so the secrets of the body are already masked.
    fileprivate var searchedBody: Data? {
      requestBody.flatMap { BodyMask.isSize($0) ? nil : Data($0.utf8) }
    }

    /// False if the archive does not contain the whole request body. A masked text has another length than the body.
    fileprivate var hasWholeBody: Bool {
      let text = requestBody ?? ""
      // A body that is compressed while it is sent is not recorded, and its length is not known.
      if text.isEmpty, requestFields.contains(.contentEncoding) { return false }
      return text.utf8.count >= requestBodySize ?? 0 || text.contains(bytesOf: Redaction.mask)
    }
  }

  /// Masks the texts of a call in an HTTP archive, which another program may have written. A secret of one exchange is
  /// masked in the texts of all. Secrets are masked; the other values of queries are shown.
  package init(archived exchanges: [ArchivedExchange]) {
    detail = .addresses
    var secrets = KnownSecrets()
    for exchange in exchanges {
      secrets.add(
        named: exchange.requestFields, url: exchange.url, body: exchange.searchedBody, isWhole: exchange.hasWholeBody)
      secrets.add(named: exchange.responseFields)
    }
    (self.secrets, hidesResponses) = (secrets.search, secrets.isIncomplete)
  }

  /// A text in which the secrets of the call are masked, and those in URLs.
  package func text(_ text: String) -> String {
    detail == .everything ? text : secrets.masked(Self.maskedURLs(text))
  }

  /// A URL with masked query values.
  package func url(_ url: String) -> String {
    switch detail {
    case .masked: text(Redaction.url(url))
    // A redirect may repeat a part of the request body in its query.
    case .addresses: text(hidesResponses ? Redaction.url(url) : url)
    case .everything: text(url)
    }
  }

  /// A text in which the user names, the passwords and the secret values of queries are masked in all URLs.
  static func maskedURLs(_ text: String) -> String {
    URLText.changing(
      text, item: { name, _ in SecretName.isSecret(encoded: name) ? Redaction.mask : nil },
      userInfo: { _ in Redaction.mask })
  }

  /// The header fields with masked values. A field whose value contains a URL is masked like a URL.
  package func fields(_ fields: HTTPFields) -> [HTTPField] {
    if detail == .everything { return fields.all }
    return fields.all.map { field in
      if field.isSecret || SecretName.isSecret(field.name) {
        return HTTPField(field.name, Redaction.mask, isSecret: true)
      }
      let isAddress = HTTPFieldName.ofURLs.contains(field.name)
      return HTTPField(field.name, isAddress ? url(field.value) : text(field.value))
    }
  }

  // MARK: - Responses

  /// A text of the server, or a text that may contain one, such as the message of an error. If a request body could not
  /// be searched for secrets, only a mask.
  package func serverText(_ text: String) -> String {
    hidesResponses && !text.isEmpty ? Redaction.mask : self.text(text)
  }

  /// The header fields of a response with masked values. If a request body could not be searched for secrets, only the
  /// values of fields without free text are shown.
  package func responseFields(_ fields: HTTPFields) -> [HTTPField] {
    let shown = self.fields(fields)
    guard hidesResponses else { return shown }
    return shown.map { field in
      Self.plainFields.contains(field.name)
        ? field : HTTPField(field.name, Redaction.mask, isSecret: field.isSecret)
    }
  }

  /// The fields of responses that contain no free text, or only URLs.
  private static let plainFields: Set<HTTPFieldName> = [
    .cacheControl, .contentEncoding, .contentLength, .contentType, .date, .location, .retryAfter, "Accept-Ranges",
    "Age", "Allow", "Connection", "Content-Location", "Content-Range", "Expires", "Keep-Alive", "Last-Modified",
    "Server", "Transfer-Encoding", "Vary", "Via",
  ]

  /// The text of a response body in an archive, masked as ``body(_:_:)``. If a request body could not be searched for
  /// secrets, only the length is shown.
  package func responseBody(_ text: String, _ fields: HTTPFields) -> String {
    hidesResponses && !text.isEmpty && !BodyMask.isSize(text)
      ? BodyMask.size(text.utf8.count) : body(text, fields)
  }

  /// The text of a recorded response body, masked as ``body(_:_:)``. If a request body could not be searched for
  /// secrets, only the length is shown.
  func responseBody(_ body: FlightBody, _ fields: HTTPFields) -> String {
    hidesResponses && body.length > 0 ? BodyMask.size(body.length) : self.body(body, fields)
  }

  // MARK: - Bodies

  /// Whether the text of a body in an archive only states the length of the body.
  package static func isLength(_ text: String) -> Bool { BodyMask.isSize(text) }

  /// The text of a body in an archive, in which the secrets are masked. Of a body that is neither JSON nor a form only
  /// the length is shown.
  package func body(_ text: String, _ fields: HTTPFields) -> String {
    // The length of a body that was masked before.
    if BodyMask.isSize(text) { return text }
    return body(FlightBody(Data(text.utf8), limit: .max), fields)
  }

  /// The recorded bytes of a body as text, or a text with the length of the body if the bytes must not be shown.
  func body(_ body: FlightBody, _ fields: HTTPFields) -> String {
    if detail == .everything { return String(decoding: body.bytes, as: UTF8.self) }
    guard body.isWhole else { return BodyMask.size(body.length) }
    return secrets.masked(String(decoding: BodyMask.masked(body.bytes, fields), as: UTF8.self))
  }

  /// The recorded bytes of a body in Base64, if everything is shown and the bytes are no text; otherwise nil.
  func base64(_ body: FlightBody) -> String? {
    detail == .everything && !body.isText ? body.bytes.base64EncodedString() : nil
  }
}

/// Masks the bytes of bodies for curl commands and for the flight record.
enum BodyMask {
  /// Returns a body without secrets. In JSON, the values whose names suggest a secret are masked, and the secrets in
  /// URLs; in a form, all values. A body of another format is replaced by a text that states its size.
  static func masked(_ body: Data, _ fields: HTTPFields) -> Data {
    if body.isEmpty { return body }
    let type = fields.mediaType
    if type?.isJSON == true, let text = try? JSONValue(parsing: body).masked.serialized() { return text }
    if type?.isForm == true {
      return Data(Redaction.url("?" + String(decoding: body, as: UTF8.self)).utf8.dropFirst())
    }
    return Data(size(body.count).utf8)
  }

  /// The text that replaces a body of the given size.
  static func size(_ count: Int) -> String { "\(Redaction.mask) \(count) bytes" }

  /// Whether a text is one that ``size(_:)`` returns.
  static func isSize(_ text: String) -> Bool {
    let digits = text.utf8.filter { ASCII.isDigit($0) }.map { String(UnicodeScalar($0)) }.joined()
    return Int(digits).map { text.hasSameBytes(as: size($0)) } ?? false
  }
}

extension JSONValue {
  /// A copy in which the values whose names suggest a secret are masked, and the secrets in URLs. Of a name that often
  /// has other values, too, only texts are masked: `{"code": 0}` is a result, `{"code": "4/0AX…"}` a secret.
  fileprivate var masked: JSONValue {
    switch content {
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.map { key, value in
            if JSONMask.isSecret(key: key) { return (key, .string(Redaction.mask)) }
            return (key, SecretName.isSecret(key) ? value.maskedTexts : value.masked)
          }))
    case .array(let elements): .array(elements.map(\.masked))
    case .string(let text): .string(FlightMask.maskedURLs(text))
    default: self
    }
  }

  /// A copy in which the text itself, or the texts in the list, are masked. Objects are masked by the names in them.
  private var maskedTexts: JSONValue {
    switch content {
    case .string: .string(Redaction.mask)
    case .array(let elements): .array(elements.map(\.maskedTexts))
    default: masked
    }
  }
}
