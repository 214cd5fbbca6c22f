import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// Values that were masked in one place of a recording. They must also be masked in all other places.
struct LearntSecrets: Sendable {
  private var values: Set<String> = []

  /// Adds a value. Values are ignored if they are short or plain words, because the same text may occur elsewhere
  /// without being secret.
  ///
  /// If the value is a URL, its path and its query are added, too, because a request to the URL contains them
  /// separately.
  mutating func learn(_ value: some StringProtocol) {
    note(String(value))
    guard let url = try? HTTPURL(String(value)) else { return }
    // The path is added without its leading slash, so that after masking a slash still separates it from the host.
    note(String(url.path.dropFirst()))
    if let query = url.query { note(query) }
  }

  private mutating func note(_ value: String) {
    guard Self.isTelling(value) else { return }
    // In HTML forms, a space is encoded as a plus sign.
    for text in [value, value.replacingBytes(of: "+", with: " ")] {
      noteForms(of: text)
      if let plain = text.removingPercentEncoding { noteForms(of: plain) }
    }
  }

  /// Adds a value in the forms that it has in URLs, in HTML forms, and in JSON with escaped slashes, which some servers
  /// send.
  private mutating func noteForms(of value: String) {
    let escaped = PercentEncoding.value(value)
    // The hexadecimal digits of an escape may be upper case or lower case (RFC 3986 section 2.1).
    let small = escaped.replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() }  // ASCII
    values.formUnion([value, escaped, small, value.replacingBytes(of: "/", with: "\\/")])
    values.formUnion([escaped, small].map { $0.replacingBytes(of: "%20", with: "+") })
  }

  /// Whether a value is so distinctive that an equal text elsewhere is certainly the same value. It has at least eight
  /// bytes, and both letters and digits.
  static func isTelling(_ value: String) -> Bool {
    value.utf8.count >= 8 && value.contains(where: \.isNumber) && value.contains(where: \.isLetter)
  }

  mutating func formUnion(_ other: LearntSecrets) { values.formUnion(other.values) }

  /// The values, the longest first. So a long value is masked before a shorter value that is part of it.
  private var ordered: [String] { values.sorted { ($0.utf8.count, $1) > ($1.utf8.count, $0) } }

  func scrubbed(_ text: String) -> String {
    ordered.reduce(text) { $0.replacingBytes(of: $1, with: RecordingMask.mark) }
  }

  func scrubbed(_ data: Data) -> Data {
    let data = ordered.reduce(data) { $0.replacing(Data($1.utf8), by: Data(RecordingMask.mark.utf8)) }  // bytes
    // JSON can escape any character. So the decoded strings are searched, too.
    guard data.contains(UInt8(ascii: "\\")), let value = try? JSONValue(parsing: data) else { return data }
    let scrubbed = scrubbed(value)
    return scrubbed == value ? data : (try? scrubbed.serialized()) ?? Data(RecordingMask.mark.utf8)
  }

  private func scrubbed(_ value: JSONValue) -> JSONValue {
    switch value.content {
    case .string(let text): .string(scrubbed(text))
    case .array(let elements): .array(elements.map { scrubbed($0) })
    case .object(let members):
      .object(Dictionary(members.map { (scrubbed($0), scrubbed($1)) }, uniquingKeysWith: { first, _ in first }))
    default: value
    }
  }

  func scrubbed(_ fields: HTTPFields) -> HTTPFields {
    HTTPFields(fields.all.map { HTTPField($0.name, scrubbed($0.value), isSecret: $0.isSecret) })
  }

  func scrubbed(_ url: HTTPURL) -> HTTPURL { (try? HTTPURL(scrubbed(url.string))) ?? url.masked }

  func scrubbed(_ failure: TransportFailure?) -> TransportFailure? {
    failure.map {
      TransportFailure($0.kind, scrubbed($0.description), isCertainlyNotSent: $0.isCertainlyNotSent)
    }
  }

  func scrubbed(_ request: HTTPRequest) -> HTTPRequest {
    HTTPRequest(
      method: request.method, url: scrubbed(request.url), fields: scrubbed(request.fields),
      body: request.body?.data.map { HTTPBody(scrubbed($0)) })
  }

  func scrubbed(_ answer: ScriptedAnswer) -> ScriptedAnswer {
    var answer = answer
    answer.head.fields = scrubbed(answer.head.fields)
    answer.body = scrubbed(answer.body)
    answer.trailers = scrubbed(answer.trailers)
    for index in answer.informational.indices {
      answer.informational[index].fields = scrubbed(answer.informational[index].fields)
    }
    answer.failure = scrubbed(answer.failure)
    answer.breakage = scrubbed(answer.breakage)
    return answer
  }
}

extension HTTPURL {
  /// The URL with everything masked except its origin.
  var masked: HTTPURL {
    let head = origin.description
    let text = "\(head)/\(RecordingMask.mark)"
    return HTTPURL(
      unchecked: text, origin: origin, pathStart: head.utf8.count, queryStart: text.utf8.count)
  }
}

extension Data {
  /// A copy in which every occurrence of `needle` is replaced by `other`. Searches for bytes.
  func replacing(_ needle: Data, by other: Data) -> Data {  // bytes
    guard !needle.isEmpty, var found = range(of: needle) else { return self }
    var result = Data()
    var rest = self[...]
    while true {
      result += rest[..<found.lowerBound] + other
      rest = rest[found.upperBound...]
      guard let next = rest.range(of: needle) else { return result + rest }  // bytes
      found = next
    }
  }
}
