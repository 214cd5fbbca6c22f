import ErrandJSON
import Foundation

/// The secrets that a call is known to hold, to be masked in the words of others: an interceptor, a provider or a decoder
/// may quote them in what it throws.
///
/// They are the values of secret fields, tokens, passwords and cookies by themselves, and what query, form and JSON body
/// say under secret names. What is shorter than four bytes is left: it may be a part of any word.
struct KnownSecrets {
  private static let shortest = 4
  /// A longer body is not searched.
  private static let longestBody = 16 << 10

  private var values: Set<String> = []

  /// What a request holds, and the answer to it.
  init(_ request: HTTPRequest? = nil, _ response: HTTPResponse? = nil) {
    if let request { add(request) }
    for field in response?.fields.all ?? [] { add(field) }
  }

  /// A text without the secrets: of two that begin alike the longer one goes first.
  func masked(_ text: String) -> String {
    let secrets = values.map { Array($0.utf8) }.sorted { $0.count > $1.count }
    return String(decoding: secrets.reduce(Array(text.utf8)) { Self.masked($0, $1) }, as: UTF8.self)
  }

  /// Byte by byte: to Swift a letter with an accent on it is another one.
  private static func masked(_ text: [UInt8], _ secret: [UInt8]) -> [UInt8] {
    var masked: [UInt8] = []
    var rest = text[...]
    while let byte = rest.first {
      if rest.starts(with: secret) {
        masked += Redaction.mask.utf8
        rest = rest.dropFirst(secret.count)
      } else {
        masked.append(byte)
        rest = rest.dropFirst()
      }
    }
    return masked
  }

  // MARK: - What is secret

  /// A credential as it stands in a field, and what it is made of.
  mutating func add(_ credential: Credential) { add(credential.fieldValue, as: .authorization) }

  /// The same of one that a client always shows.
  mutating func add(_ credential: FixedCredential) { add(credential.fieldValue, as: .authorization) }

  /// The fields that a request, a family or a client says.
  mutating func add(_ headers: RequestHeaders) {
    for entry in headers.entries { if let value = entry.value { add(entry.field(value)) } }
  }

  /// The arguments that a request says.
  mutating func add(_ arguments: Arguments) {
    for entry in arguments.entries where JSONMask.isSecret(key: entry.name) {
      if case .string(let text) = entry.value { add(text) }
    }
  }

  private mutating func add(_ request: HTTPRequest) {
    for field in request.fields.all { add(field) }
    if let query = request.url.query { add(pairs: query) }
    guard let body = request.body?.data, body.count <= Self.longestBody else { return }
    let type = request.fields[.contentType].flatMap { MediaType($0) }
    if type?.isJSON == true, let value = try? JSONValue(parsing: body) { add(value, isSecret: false) }
    if type?.essence == "application/x-www-form-urlencoded" { add(pairs: String(decoding: body, as: UTF8.self)) }
  }

  private mutating func add(_ field: HTTPField) {
    if field.isSecret { add(field.value, as: field.name) }
  }

  private mutating func add(_ value: String, as name: HTTPFieldName) {
    add(value)
    switch name {
    case .authorization, .proxyAuthorization: add(credentials: value)
    case .cookie: for pair in value.split(separator: ";") { add(cookie: pair) }
    case .setCookie: if let pair = value.split(separator: ";").first { add(cookie: pair) }
    default: break
    }
  }

  /// What stands behind the scheme; of a name and a password in Base64 also the password.
  private mutating func add(credentials value: String) {
    guard let blank = value.firstIndex(of: " ") else { return }
    let token = String(value[blank...].drop { $0 == " " })
    add(token)
    guard value[..<blank].lowercased() == "basic", let plain = Data(base64Encoded: token) else { return }
    let text = String(decoding: plain, as: UTF8.self)
    add(text)
    if let colon = text.firstIndex(of: ":") { add(String(text[text.index(after: colon)...])) }
  }

  private mutating func add(cookie pair: Substring) {
    guard let equals = pair.firstIndex(of: "=") else { return }
    add(String(pair[pair.index(after: equals)...]))
  }

  /// The pairs of a query or a form, as they stand there and as they are meant.
  private mutating func add(pairs text: String) {
    for pair in text.split(separator: "&") {
      guard let equals = pair.firstIndex(of: "="), JSONMask.isSecret(key: Self.plain(pair[..<equals])) else { continue }
      let value = pair[pair.index(after: equals)...]
      add(String(value))
      add(Self.plain(value))
    }
  }

  private static func plain(_ text: Substring) -> String {
    PercentEncoding.decoded(text.utf8, plusIsSpace: true).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
  }

  private mutating func add(_ value: JSONValue, isSecret: Bool) {
    switch value.content {
    case .string(let text): if isSecret { add(text) }
    case .array(let elements): for element in elements { add(element, isSecret: isSecret) }
    case .object(let members):
      for (key, member) in members { add(member, isSecret: isSecret || JSONMask.isSecret(key: key)) }
    case .null, .bool, .integer, .unsigned, .number: break
    }
  }

  private mutating func add(_ text: String) {
    if text.utf8.count >= Self.shortest { values.insert(text) }
  }
}

extension APIError {
  /// The same error, its sentence without secrets.
  func masking(_ secrets: KnownSecrets) -> APIError {
    let masked = secrets.masked(message)
    return masked == message ? self : with { $0.message = masked }
  }
}
