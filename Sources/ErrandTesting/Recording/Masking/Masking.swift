import ErrandCore
import ErrandJSON
import Foundation

/// Masks exchanges by a ``RecordingMask``, and learns on the way which values are secret.
struct Masking {
  let mask: RecordingMask
  var learnt: LearntSecrets

  init(_ mask: RecordingMask, learnt: LearntSecrets = LearntSecrets()) {
    self.mask = mask
    self.learnt = learnt
  }

  /// All exchanges, what was learnt of any of them masked in all.
  static func recording(of exchanges: [RecordedExchange], by mask: RecordingMask) -> Recording {
    var masking = Masking(mask)
    let masked = exchanges.map {
      RecordedExchange(request: masking.request($0.request), answer: masking.answer($0.answer))
    }
    let learnt = masking.learnt
    let scrubbed = zip(exchanges, masked).map { original, masked in
      var answer = learnt.scrubbed(masked.answer)
      if answer.body != original.answer.body, answer.breakage == nil { answer.fitChangedBody() }
      return RecordedExchange(request: learnt.scrubbed(masked.request), answer: answer)
    }
    return Recording(scrubbed, mask: mask)
  }

  /// A request as it stands in a recording; its body is in memory.
  mutating func request(_ request: HTTPRequest) -> HTTPRequest {
    var masked = request
    masked.url = (try? HTTPURL(maskedURLs(in: request.url.string))) ?? request.url.masked
    masked.fields = fields(request.fields)
    guard let body = request.body?.data else { return masked }
    if !body.isEmpty, request.fields.contains(.contentEncoding) {
      masked.body = HTTPBody(Data(RecordingMask.mark.utf8))
    } else {
      masked.body = HTTPBody(self.body(body, request.fields))
    }
    if let boundary = MultipartText.boundary(request.fields) {
      masked.fields[.contentType] = masked.fields[.contentType]?.replacing(boundary, with: MultipartText.plainBoundary)
    }
    return masked
  }

  /// An answer as it stands in a recording.
  mutating func answer(_ answer: ScriptedAnswer) -> ScriptedAnswer {
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

  /// Of a credential its kind is kept, of cookies their names and attributes: a replay goes through the same steps.
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
      return "\(kind) \(hidden(rest))"
    default: return hidden(field.value)
    }
  }

  private mutating func maskedPair(_ pair: String) -> String {
    let (name, value) = Self.split(pair, at: "=")
    guard let value else { return hidden(pair) }
    return "\(name)=\(hidden(value))"
  }

  /// A text with the secret items of every query and fragment in it masked, and what stands before the `@` of a URL.
  mutating func maskedURLs(in text: String) -> String {
    URLText.changing(text, items: { maskedItems($0) }, userInfo: { hidden($0) })
  }

  /// A query or a form.
  mutating func maskedItems(_ text: String) -> String {
    text.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      let (name, value) = Self.split(String(pair), at: "=")
      guard let value, mask.hides(item: name.removingPercentEncoding ?? name) else { return String(pair) }
      return "\(name)=\(hidden(value))"
    }.joined(separator: "&")
  }

  /// What stands in the place of a secret text; an empty one stays.
  mutating func hidden(_ value: String) -> String {
    learnt.learn(value)
    return value.isEmpty ? "" : RecordingMask.mark
  }

  private static func split(_ text: String, at sign: Unicode.Scalar) -> (String, String?) {
    let scalars = text.unicodeScalars
    guard let place = scalars.firstIndex(of: sign) else { return (text, nil) }
    return (String(scalars[..<place]), String(scalars[scalars.index(after: place)...]))
  }
}

extension Masking {
  /// A body as it stands in a recording: byte for byte where nothing in it is masked.
  mutating func body(_ body: Data, _ fields: HTTPFields) -> Data {
    if body.isEmpty { return body }
    let type = fields[.contentType].flatMap { MediaType($0) }
    if let boundary = MultipartText.boundary(fields) { return multipart(body, boundary) }
    if type?.essence == "application/x-www-form-urlencoded" {
      return Data(maskedItems(String(decoding: body, as: UTF8.self)).utf8)
    }
    return text(body, type)
  }

  private mutating func text(_ text: Data, _ type: MediaType?) -> Data { json(text) ?? lines(text, type) }

  // MARK: - JSON

  /// A JSON text masked; nil where it is none. One that gives a member twice is always written anew: of those the value
  /// has the first alone.
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

  /// The colons outside of strings, one for each member.
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

  /// - Parameter paths: What is left of the paths that lead here.
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

  /// Whether a text is a URL as a whole, or a path as redirects have it.
  private static func isURL(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    let isMarked =
      scalars.first == "/"
      || text.utf8.split(separator: UInt8(ascii: ":")).dropFirst().contains { $0.starts(with: "//".utf8) }
    return isMarked && !scalars.contains { $0.properties.isWhitespace }
  }

  /// What is left of a path at an element: a path that names no index means all of them.
  private static func onward(_ path: ArraySlice<JSONPath.Step>, at index: Int) -> ArraySlice<JSONPath.Step>? {
    guard case .index(let wanted)? = path.first else { return path }
    return wanted == index ? path.dropFirst() : nil
  }

  /// The same form with nothing in it.
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

  /// The boundary is random: in its place stands one that is the same in every recording.
  private mutating func multipart(_ body: Data, _ boundary: String) -> Data {
    let parts = MultipartText.parts(of: body, boundary).map { part -> Data in
      guard let name = part.name, mask.hides(item: name) else { return part.head + text(part.content, part.type) }
      learnt.learn(String(decoding: part.content, as: UTF8.self))
      return part.head + Data(RecordingMask.mark.utf8)
    }
    return Data(parts.joined(separator: Data("\r\n--\(MultipartText.plainBoundary)".utf8)))
  }
}
