import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// Masks exchanges according to a ``RecordingMask``. It remembers the secret values that it finds, so that they can be
/// masked in all exchanges.
struct Masking {
  let mask: RecordingMask
  var learnt: LearntSecrets

  init(_ mask: RecordingMask, learnt: LearntSecrets = LearntSecrets()) {
    self.mask = mask
    self.learnt = learnt
  }

  /// Masks all exchanges. A secret value that was found in one exchange is masked in all exchanges.
  static func recording(of exchanges: [RecordedExchange], by mask: RecordingMask) -> Recording {
    var masking = Masking(mask)
    let masked = exchanges.map {
      RecordedExchange(request: masking.request($0.request), answer: masking.response($0.answer))
    }
    let learnt = masking.learnt
    let complete = zip(exchanges, masked).map { original, masked in
      var answer = learnt.masked(masked.answer)
      if answer.body != original.answer.body, answer.breakage == nil { answer.fitChangedBody() }
      return RecordedExchange(request: learnt.masked(masked.request), answer: answer)
    }
    return Recording(complete, mask: mask)
  }

  /// Masks a request for a recording. The body of the request must be in memory.
  mutating func request(_ request: HTTPRequest) -> HTTPRequest {
    var masked = request
    masked.url = (try? HTTPURL(maskedURLs(in: request.url.string))) ?? request.url.masked
    masked.fields = fields(request.fields)
    guard let body = request.body?.data else { return masked }
    if !body.isEmpty, request.fields.contains(.contentEncoding) {
      masked.body = HTTPBody(Data(RecordingMask.mark.utf8))
    } else {
      masked.body = HTTPBody(self.body(body, request.fields, boundary: MultipartText.plainBoundary))
    }
    if let boundary = MultipartText.boundary(request.fields) {
      masked.fields = HTTPFields(
        masked.fields.all.map { field in
          guard field.name == .contentType else { return field }
          let value = MultipartText.withPlainBoundary(field.value, insteadOf: boundary)
          return HTTPField(field.name, value, isSecret: field.isSecret)
        })
    }
    return masked
  }

  mutating func response(_ answer: ScriptedAnswer) -> ScriptedAnswer {
    var masked = answer
    masked.head.fields = fields(answer.head.fields)
    masked.trailers = fields(answer.trailers)
    for index in masked.informational.indices {
      masked.informational[index].fields = fields(masked.informational[index].fields)
    }
    masked.body = body(answer.body, answer.head.fields)
    return masked
  }

  // MARK: - Fields and URLs

  private mutating func fields(_ fields: HTTPFields) -> HTTPFields {
    HTTPFields(
      fields.all.map { field in
        let value = mask.hides(field) ? masked(field) : maskedURLs(in: field.value)
        return HTTPField(field.name, value, isSecret: field.isSecret)
      })
  }

  /// Masks the value of a secret field. Three parts are not masked: the scheme of a credential, and the names and the
  /// attributes of cookies. A client needs these parts to handle a replayed response as it handled the original
  /// response.
  private mutating func masked(_ field: HTTPField) -> String {
    switch field.name {
    case .setCookie:
      let (cookie, rest) = Self.split(field.value, at: ";")
      return maskedPair(cookie) + (rest.map { ";\($0)" } ?? "")
    case .cookie:
      return field.value.unicodeScalars.split(separator: ";").map { maskedPair(String($0)) }.joined(separator: ";")
    case .authorization, .proxyAuthorization:
      let (kind, rest) = Self.split(field.value, at: " ")
      guard let rest else { return hidden(field.value) }
      if kind.lowercased() == "basic", let plain = Data(base64Encoded: rest.trimmingCharacters(in: .whitespaces)) {
        _ = hidden(userInfo: String(decoding: plain, as: UTF8.self))
      }
      return "\(kind) \(hidden(rest))"
    default: return hidden(field.value)
    }
  }

  private mutating func maskedPair(_ pair: String) -> String {
    let (name, value) = Self.split(pair, at: "=")
    guard let value else { return hidden(pair) }
    return "\(name)=\(hidden(value))"
  }

  /// Masks the secret items in every query and fragment that a text contains, and the user information of URLs.
  mutating func maskedURLs(in text: String) -> String {
    URLText.changing(text, item: { maskedValue($1, of: $0) }, userInfo: { hidden(userInfo: $0) })
  }

  /// Masks the values of secret items in a query or a form.
  mutating func maskedItems(_ text: String) -> String {
    URLText.changing(items: text) { maskedValue($1, of: $0) }
  }

  /// The text for a secret value of a query or a form; nil if the value is not secret.
  private mutating func maskedValue(_ value: Substring, of name: Substring) -> String? {
    guard mask.hides(item: name.removingPercentEncoding ?? String(name)) else { return nil }
    // In a URL, the value ends before the fragment.
    if let (query, _) = value.cut(at: "#") { learnt.learn(String(query)) }
    return hidden(String(value))
  }

  /// Remembers a text as a secret value, and returns the text that replaces it in the recording: the mask, or an empty
  /// text for an empty text.
  mutating func hidden(_ value: String) -> String {
    learnt.learn(value)
    return value.isEmpty ? "" : RecordingMask.mark
  }

  /// Remembers a user name and a password as a secret value, and the password also alone, because a server may repeat
  /// only the password. Returns the text that replaces both in the recording.
  private mutating func hidden(userInfo: String) -> String {
    if let (_, password) = userInfo.cut(at: ":") { learnt.learn(password) }
    return hidden(userInfo)
  }

  private static func split(_ text: String, at sign: Unicode.Scalar) -> (String, String?) {
    let scalars = text.unicodeScalars
    guard let place = scalars.firstIndex(of: sign) else { return (text, nil) }
    return (String(scalars[..<place]), String(scalars[scalars.index(after: place)...]))
  }
}

extension Masking {
  /// Masks a body for a recording. A body without secrets stays the same byte for byte, except the boundary.
  /// - Parameter boundary: The boundary that a multipart body gets; nil to keep its own boundary.
  mutating func body(_ body: Data, _ fields: HTTPFields, boundary: String? = nil) -> Data {
    if body.isEmpty { return body }
    let type = fields.mediaType
    if let own = MultipartText.boundary(fields) { return multipart(body, own, replacedBy: boundary ?? own) }
    if type?.essence == "application/x-www-form-urlencoded" {
      let text = String(decoding: body, as: UTF8.self)
      let masked = maskedItems(text)
      return masked.hasSameBytes(as: text) ? body : Data(masked.utf8)
    }
    return text(body, type)
  }

  private mutating func text(_ text: Data, _ type: MediaType?) -> Data { json(text) ?? lines(text, type) }

  // MARK: - JSON

  /// The masked JSON text; nil if the text is not JSON. If nothing is masked, the text stays unchanged.
  /// Exception: if an object has the same key twice, the text is always changed. Parsing keeps only the first member
  /// with this key, so the second member is not checked for secrets. The result omits the second member.
  mutating func json(_ text: Data) -> Data? {
    guard let value = try? JSONValue(parsing: text) else { return nil }
    let masked = json(value, mask.paths.map { $0.steps[...] })
    if masked == value, Self.members(of: value) == Self.members(in: text) { return text }
    return (try? masked.serialized()) ?? Data(RecordingMask.mark.utf8)
  }

  private static func members(of value: JSONValue) -> Int {
    switch value.content {
    case .object(let members): members.values.reduce(members.count) { $0 + self.members(of: $1) }
    case .array(let elements): elements.reduce(0) { $0 + members(of: $1) }
    default: 0
    }
  }

  /// The number of members in all objects of a JSON text: the number of colons outside strings.
  private static func members(in text: Data) -> Int {
    var (count, isInString, isEscaped) = (0, false, false)
    for byte in text {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: ":") where !isInString: count += 1
      default: break
      }
    }
    return count
  }

  /// - Parameter paths: The paths to mask inside `value`. Each path begins at `value`. An empty path means that the
  ///   whole value is masked.
  private mutating func json(_ value: JSONValue, _ paths: [ArraySlice<JSONPath.Step>]) -> JSONValue {
    if paths.contains(where: \.isEmpty) { return hidden(value) }
    switch value.content {
    case .object(let members):
      var masked: [String: JSONValue] = [:]
      for (key, member) in members {
        let onward = paths.filter { $0.first == .key(key) }.map { $0.dropFirst() }
        masked[key] = mask.hides(key: key) ? hidden(member) : json(member, onward)
      }
      return .object(masked)
    case .array(let elements):
      return .array(
        elements.enumerated().map { index, element in
          json(element, paths.compactMap { Self.onward($0, at: index) })
        })
    case .string(let text): return Self.isURL(text) ? .string(maskedURLs(in: text)) : value
    default: return value
    }
  }

  /// Whether the whole text is a URL, or a path that begins with a slash, as in redirects.
  private static func isURL(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    let isMarked =
      scalars.first == "/"
      || text.utf8.split(separator: UInt8(ascii: ":")).dropFirst().contains { $0.starts(with: "//".utf8) }
    return isMarked && !scalars.contains { $0.properties.isWhitespace }
  }

  /// Converts a path that begins at an array into the path that begins at the array element `index`. The result is nil
  /// if the path selects another element. A path that does not begin with an index selects all elements and is returned
  /// unchanged.
  private static func onward(_ path: ArraySlice<JSONPath.Step>, at index: Int) -> ArraySlice<JSONPath.Step>? {
    guard case .index(let wanted)? = path.first else { return path }
    return wanted == index ? path.dropFirst() : nil
  }

  /// A value with the same structure, in which all texts, numbers and Booleans are masked.
  private mutating func hidden(_ value: JSONValue) -> JSONValue {
    switch value.content {
    case .null: return .null
    case .bool: return false
    case .integer, .unsigned, .number: return 0
    case .string(let text): return .string(hidden(text))
    case .array(let elements): return .array(elements.map { hidden($0) })
    case .object(let members): return .object(members.mapValues { hidden($0) })
    }
  }

  // MARK: - Multipart

  /// Masks a multipart body. In a request, a fixed boundary replaces the random boundary, so that recordings can be
  /// compared. A response keeps its boundary, so that a client gets it as the server sent it.
  private mutating func multipart(_ body: Data, _ boundary: String, replacedBy other: String) -> Data {
    let parts = MultipartText.parts(of: body, boundary).map { part -> Data in
      guard let name = part.name, mask.hides(item: name) else { return part.head + text(part.content, part.type) }
      learnt.learn(String(decoding: part.content, as: UTF8.self))
      return part.head + Data(RecordingMask.mark.utf8)
    }
    let masked = Data(parts.joined(separator: Data("\r\n--\(other)".utf8)))
    return MultipartText.beginsWithBoundary(body, boundary) ? Data(masked.dropFirst(2)) : masked
  }
}
