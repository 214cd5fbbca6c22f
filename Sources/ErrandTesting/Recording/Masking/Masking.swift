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
