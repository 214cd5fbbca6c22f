import ErrandJSON
import ErrandSupport
import Foundation

/// The secrets that a call is known to hold, to be masked in the words of others: an interceptor, a provider or a decoder
/// may quote them in what it throws.
///
/// They are the values of secret fields, tokens and passwords by themselves, and cookies and what query, form and JSON body
/// say under secret names. What is shorter than four bytes is left: it may be a part of any word. What stands under a name
/// that looks like a secret's and is shorter than eight bytes is masked as a whole word alone, and left where it is one
/// of small letters in a cookie or a query (`theme=dark`, `sort_key=name`).
struct KnownSecrets {
  private static let shortest = 4
  /// From so many bytes on a value is no ordinary word.
  private static let long = 8
  /// A longer body is not searched.
  private static let longestBody = 16 << 10

  /// What is masked wherever it stands.
  private var values: Set<ByteText> = []
  /// What is masked where no letter and no digit touches it.
  private var words: Set<ByteText> = []

  /// What a request holds, and the answer to it.
  init(_ request: HTTPRequest? = nil, _ response: HTTPResponse? = nil) {
    if let request { add(request) }
    for field in response?.fields.all ?? [] { add(field) }
  }

  /// A text without the secrets: of two that begin alike the longer one goes first.
  func masked(_ text: String) -> String {
    let secrets = values.union(words).map { (bytes: Array($0.text.utf8), isWord: !values.contains($0)) }
      .sorted { $0.bytes.count > $1.bytes.count }
    let masked = secrets.reduce(Array(text.utf8)) { Self.masked($0, $1.bytes, isWord: $1.isWord) }
    return String(decoding: masked, as: UTF8.self)
  }

  /// Byte by byte: to Swift a letter with an accent on it is another one.
  private static func masked(_ text: [UInt8], _ secret: [UInt8], isWord: Bool) -> [UInt8] {
    var masked: [UInt8] = []
    var rest = text[...]
    while let byte = rest.first {
      if rest.starts(with: secret),
        !isWord || !isLetter(masked.last) && !isLetter(rest.dropFirst(secret.count).first)
      {
        masked += Redaction.mask.utf8
        rest = rest.dropFirst(secret.count)
      } else {
        masked.append(byte)
        rest = rest.dropFirst()
      }
    }
    return masked
  }

  /// Whether a byte is a letter or a digit, or a part of one beyond ASCII.
  private static func isLetter(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      true
    default: false
    }
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
      switch entry.value {
      case .string(let text): add(guess: text)
      case .integer(let number): add(guess: String(number))
      default: break
      }
    }
  }

  private mutating func add(_ request: HTTPRequest) {
    for field in request.fields.all { add(field) }
    if let query = request.url.query { add(pairs: query, maySayWords: true) }
    guard let body = request.body?.data, body.count <= Self.longestBody else { return }
    let type = request.fields[.contentType].flatMap { MediaType($0) }
    if type?.isJSON == true, let value = try? JSONValue(parsing: body) { add(value, isSecret: false) }
    guard type?.essence == "application/x-www-form-urlencoded" else { return }
    add(pairs: String(decoding: body, as: UTF8.self), maySayWords: false)
  }

  private mutating func add(_ field: HTTPField) {
    if field.isSecret { add(field.value, as: field.name) }
  }

  private mutating func add(_ value: String, as name: HTTPFieldName) {
    add(value)
    switch name {
    case .authorization, .proxyAuthorization: add(credentials: value)
    case .cookie: for pair in value.parts(at: ";") { add(cookie: pair) }
    case .setCookie: if let pair = value.parts(at: ";").first { add(cookie: pair) }
    default: break
    }
  }

  /// What stands behind the scheme; of a name and a password in Base64 also the password.
  private mutating func add(credentials value: String) {
    guard let (scheme, rest) = value.cut(at: " ") else { return }
    let token = String(rest.unicodeScalars.drop { $0 == " " })
    add(token)
    guard scheme.lowercased() == "basic", let plain = Data(base64Encoded: token) else { return }
    let text = String(decoding: plain, as: UTF8.self)
    add(text)
    if let (_, password) = text.cut(at: ":") { add(String(password)) }
  }

  private mutating func add(cookie pair: Substring) {
    if let (_, value) = pair.cut(at: "=") { add(guess: String(value), maySayWords: true) }
  }

  /// The pairs of a query or a form, as they stand there and as they are meant.
  private mutating func add(pairs text: String, maySayWords: Bool) {
    for pair in text.parts(at: "&") {
      guard let (name, value) = pair.cut(at: "="), JSONMask.isSecret(key: Self.plain(name)) else { continue }
      add(guess: String(value), maySayWords: maySayWords)
      add(guess: Self.plain(value), maySayWords: maySayWords)
    }
  }

  private static func plain(_ text: Substring) -> String {
    PercentEncoding.decoded(text.utf8, plusIsSpace: true).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
  }

  private mutating func add(_ value: JSONValue, isSecret: Bool) {
    switch value.content {
    case .string(let text): if isSecret { add(guess: text) }
    case .array(let elements): for element in elements { add(element, isSecret: isSecret) }
    case .object(let members):
      for (key, member) in members { add(member, isSecret: isSecret || JSONMask.isSecret(key: key)) }
    case .integer(let number): if isSecret { add(guess: String(number)) }
    case .null, .bool, .unsigned, .number: break
    }
  }

  /// A value that is secret for certain, also as it stands in JSON.
  mutating func add(_ text: String) {
    guard text.utf8.count >= Self.shortest else { return }
    values.insert(ByteText(text))
    if let quoted = Self.quoted(text) { values.insert(ByteText(quoted)) }
  }

  /// A value under a name that looks like a secret's.
  private mutating func add(guess text: String, maySayWords: Bool = false) {
    if text.utf8.count >= Self.long { return add(text) }
    if maySayWords, text.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }) { return }
    if text.utf8.count >= Self.shortest { words.insert(ByteText(text)) }
  }

  /// A text with the escapes that it has in JSON; nil where it has none.
  private static func quoted(_ text: String) -> String? {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }),
      let json = try? JSONValue.string(text).serialized()
    else { return nil }
    return String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
  }
}

extension APIError {
  /// The same error, its sentence without secrets.
  func masking(_ secrets: KnownSecrets) -> APIError {
    let masked = secrets.masked(message)
    return masked == message ? self : with { $0.message = masked }
  }
}
