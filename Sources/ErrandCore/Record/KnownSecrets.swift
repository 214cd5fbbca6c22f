import ErrandJSON
import ErrandSupport
import Foundation

/// The known secrets of a call. They are masked in the texts of errors, because an interceptor, a provider or a decoder
/// may quote a secret in an error.
///
/// The known secrets are the values of secret header fields, the tokens and passwords in these values, cookies, and the
/// values in the query, form or JSON body whose names suggest a secret, such as `token`; also percent-encoded or with
/// the escapes of JSON. Short values may be ordinary words, so there are exceptions:
///
/// - A value of fewer than 4 bytes is never masked.
/// - A value of 4 to 7 bytes that is in a cookie or has a name that suggests a secret is masked only as a whole word.
/// - A value of 4 to 7 bytes in a cookie or a query is not masked at all if it consists of lower-case letters only
///   (`theme=dark`, `sort_key=name`).
struct KnownSecrets: Sendable {
  private static let shortest = SecretSearch.prefix
  /// The length in bytes from which a value is masked at every position, because such a value is hardly an ordinary
  /// word.
  private static let long = 8
  /// The size in bytes of the largest body that is searched for secrets that the message of an error may contain. The
  /// flight record keeps a request body of this size, so that it can be searched.
  static let longestBody = 16 << 10

  /// Secrets that are masked at every position in a text.
  private var values: Set<ByteText> = []
  /// Secrets that are masked in a text only if no letter or digit is next to them.
  private var words: Set<ByteText> = []
  /// Whether a JSON or form body could not be searched, so that it may contain secrets that are not known. Only
  /// ``add(named:url:body:isWhole:)`` sets this.
  private(set) var isIncomplete = false

  init(_ request: HTTPRequest? = nil, _ response: HTTPResponse? = nil) {
    if let request { add(request) }
    if let response { add(response.fields) }
  }

  /// A copy of the text in which all secrets are masked. To mask several texts, use one ``search``.
  func masked(_ text: String) -> String { search.masked(text) }

  var search: SecretSearch { SecretSearch(values: values, words: words) }

  // MARK: - Collecting secrets

  /// Adds to the known secrets the `Authorization` value with this credential, and the tokens and passwords in the
  /// value.
  mutating func add(_ credential: Credential) { add(credential.fieldValue, as: .authorization) }

  /// Adds to the known secrets the values of the secret header fields that a request, a ``RequestFamily`` or a client
  /// sets.
  mutating func add(_ headers: RequestHeaders) {
    for entry in headers.entries { if let value = entry.value { add(entry.field(value)) } }
  }

  /// Adds to the known secrets the values of the arguments whose names suggest a secret, such as `token`, also of those
  /// inside the values of other arguments.
  mutating func add(_ arguments: Arguments) {
    for entry in arguments.entries { add(entry.value, isSecret: JSONMask.isSecret(key: entry.name)) }
  }

  /// Adds to the known secrets the values in the query of a URL or a path whose names suggest a secret.
  mutating func add(queryOf url: String) {
    guard let (_, rest) = url.cut(at: "?") else { return }
    add(pairs: String(rest.cut(at: "#")?.before ?? rest), mayBeWord: true)
  }

  /// Adds to the known secrets the values in a JSON text whose names suggest a secret. A long text is not searched.
  mutating func add(json text: Data) {
    if text.count <= Self.longestBody, let value = try? JSONValue(parsing: text) { add(value, isSecret: false) }
  }

  private mutating func add(_ value: ArgumentValue, isSecret: Bool) {
    switch value {
    case .string(let text): if isSecret { add(suspected: text) }
    case .array(let elements): for element in elements { add(element, isSecret: isSecret) }
    case .object(let members):
      for entry in members.entries { add(entry.value, isSecret: isSecret || JSONMask.isSecret(key: entry.name)) }
    case .integer(let number): if isSecret { add(suspected: String(number)) }
    case .data(let data): if isSecret { add(suspected: data.base64EncodedString()) }
    case .omitted, .null, .bool, .unsigned, .number, .date: break
    }
  }

  private mutating func add(_ request: HTTPRequest) {
    add(request.fields)
    if let query = request.url.query { add(pairs: query, mayBeWord: true) }
    switch Self.content(of: request.body?.data, request.fields, atMost: Self.longestBody) {
    case .json(let value)?: add(value, isSecret: false)
    case .form(let text)?: add(pairs: text, mayBeWord: false)
    case nil: break
    }
  }

  private enum Content {
    case json(JSONValue)
    case form(String)
  }

  /// The content of a body that is searched for secrets; nil for a body with more than `limit` bytes, for JSON that
  /// cannot be parsed, and for other formats.
  private static func content(of body: Data?, _ fields: HTTPFields, atMost limit: Int) -> Content? {
    guard let body, body.count <= limit, let type = fields.mediaType else { return nil }
    if type.isJSON { return (try? JSONValue(parsing: body)).map { .json($0) } }
    return type.isForm ? .form(String(decoding: body, as: UTF8.self)) : nil
  }

  /// Whether a body with these fields should be searched for secrets: whether it is JSON or a form.
  private static func isSearched(_ fields: HTTPFields) -> Bool {
    fields.mediaType.map { $0.isJSON || $0.isForm } ?? false
  }

  mutating func add(_ fields: HTTPFields) {
    for field in fields.all { add(field) }
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

  /// Adds to the known secrets the part of an `Authorization` value after the scheme, such as a token. For the scheme
  /// Basic, also adds the decoded user name and password.
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
    if let (_, value) = pair.cut(at: "=") { add(suspected: String(value), mayBeWord: true) }
  }

  /// Adds to the known secrets those values in a query or a form whose names suggest a secret. Each value is added
  /// twice: as it is written, and percent-decoded.
  private mutating func add(pairs text: String, mayBeWord: Bool) {
    for pair in text.parts(at: "&") {
      guard let (name, value) = pair.cut(at: "="), JSONMask.isSecret(key: SecretName.decoded(name)) else { continue }
      add(item: value, mayBeWord: mayBeWord)
    }
  }

  private mutating func add(item value: Substring, mayBeWord: Bool) {
    add(suspected: String(value), mayBeWord: mayBeWord)
    add(suspected: SecretName.decoded(value), mayBeWord: mayBeWord)
  }

  private mutating func add(_ value: JSONValue, isSecret: Bool) {
    switch value.content {
    case .string(let text): if isSecret { add(suspected: text) }
    case .array(let elements): for element in elements { add(element, isSecret: isSecret) }
    case .object(let members):
      for (key, member) in members { add(member, isSecret: isSecret || JSONMask.isSecret(key: key)) }
    case .integer(let number): if isSecret { add(suspected: String(number)) }
    case .null, .bool, .unsigned, .number: break
    }
  }

  // MARK: - Secrets that only their names reveal

  /// Adds to the known secrets those in a message of a record or an archive. The rule is that of ``SecretName``, which
  /// covers more names than the rule for errors. A body of any size is searched.
  ///
  /// - Parameters:
  ///   - body: The known bytes of the body; nil if there is no body or its bytes are not known.
  ///   - isWhole: False if there is a body of which a part is not known.
  mutating func add(named fields: HTTPFields, url: String = "", body: Data? = nil, isWhole: Bool = true) {
    for field in fields.all {
      // A field that is secret only by its name may have an ordinary word as its value, such as `true`.
      if HTTPField(field.name, "").isSecret {
        add(field)
      } else if SecretName.isSecret(field.name) || field.isSecret {
        add(suspected: field.value, mayBeWord: true)
      } else {
        add(urls: field.value)
      }
    }
    add(urls: url)
    switch Self.content(of: body, fields, atMost: .max) {
    case .json(let value)?: add(named: value)
    case .form(let text)?:
      _ = URLText.changing(items: text) { add(named: $0, $1, isForm: true) }
      // Any bytes can be read as a form, also compressed ones.
      if !isWhole || fields.contains(.contentEncoding) { isIncomplete = true }
    case nil:
      // Compressed JSON cannot be parsed.
      if !isWhole || body?.isEmpty == false, Self.isSearched(fields) { isIncomplete = true }
    }
  }

  private mutating func add(named value: JSONValue, isSuspected: Bool = false) {
    switch value.content {
    case .string(let text): if isSuspected { add(suspected: text, mayBeWord: true) } else { add(urls: text) }
    case .array(let elements): for element in elements { add(named: element, isSuspected: isSuspected) }
    case .object(let members):
      for (key, member) in members {
        if JSONMask.isSecret(key: key) {
          add(member, isSecret: true)
        } else {
          add(named: member, isSuspected: SecretName.isSecret(key))
        }
      }
    case .null, .bool, .integer, .unsigned, .number: break
    }
  }

  /// Adds to the known secrets the secret values and the passwords in URLs.
  private mutating func add(urls text: String) {
    _ = URLText.changing(
      text, item: { add(named: $0, $1) },
      userInfo: { user in
        if let (_, password) = user.cut(at: ":") { add(suspected: SecretName.decoded(password), mayBeWord: true) }
        return user
      })
  }

  /// Adds the value of an item of a query or a form if its name suggests a secret. Returns nil if it does not.
  private mutating func add(named name: Substring, _ value: Substring, isForm: Bool = false) -> String? {
    guard SecretName.isSecret(encoded: name) else { return nil }
    let mayBeWord = !isForm || !JSONMask.isSecret(key: SecretName.decoded(name))
    add(item: value, mayBeWord: mayBeWord)
    // In a URL, the value ends before the fragment.
    if !isForm, let (query, _) = value.cut(at: "#") { add(item: query, mayBeWord: mayBeWord) }
    return ""
  }

  // MARK: - Single values

  /// Adds to the known secrets a text that is certainly secret.
  mutating func add(_ text: String) {
    guard text.utf8.count >= Self.shortest else { return }
    for form in Self.forms(of: text) { values.insert(ByteText(form)) }
  }

  /// Adds to the known secrets a value whose name suggests a secret. If `mayBeWord` is true, a short value of
  /// lower-case letters counts as an ordinary word and is not added.
  private mutating func add(suspected text: String, mayBeWord: Bool = false) {
    if text.utf8.count >= Self.long { return add(text) }
    if mayBeWord, text.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }) { return }
    guard text.utf8.count >= Self.shortest else { return }
    for form in Self.forms(of: text) { words.insert(ByteText(form)) }
  }

  /// The forms in which a server may repeat a text: unchanged, with the escapes of JSON, of which some servers also
  /// write that for slashes, and percent-encoded.
  private static func forms(of text: String) -> [String] {
    let json = quoted(text) ?? text
    return [text, json, json.replacingBytes(of: "/", with: "\\/")] + PercentEncoding.forms(of: text)
  }

  /// Returns the text with JSON escapes; nil if the text needs no escapes.
  private static func quoted(_ text: String) -> String? {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }),
      let json = try? JSONValue.string(text).serialized()
    else { return nil }
    return String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
  }
}

extension APIError {
  func masking(_ secrets: KnownSecrets) -> APIError {
    let masked = secrets.masked(message)
    return masked == message ? self : with { $0.message = masked }
  }
}
