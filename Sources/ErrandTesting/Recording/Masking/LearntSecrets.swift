import ErrandCore
import ErrandJSON
import Foundation

/// Values that were masked in one place, to be masked wherever else they stand.
struct LearntSecrets: Sendable {
  private var values: Set<String> = []

  /// Notes a value. Short ones and plain words are passed over: they stand in other places by chance.
  /// Of a URL its path and its query are noted, too: they come alone in the lines and fields of a request to it.
  mutating func learn(_ value: some StringProtocol) {
    note(String(value))
    guard let url = try? HTTPURL(String(value)) else { return }
    // Without the slash, which keeps apart the host before it.
    note(String(url.path.dropFirst()))
    if let query = url.query { note(query) }
  }

  private mutating func note(_ value: String) {
    guard Self.isTelling(value) else { return }
    // A form has pluses for blanks.
    for text in [value, value.replacing("+", with: " ")] {
      noteForms(of: text)
      if let plain = text.removingPercentEncoding { noteForms(of: plain) }
    }
  }

  /// Notes a value as it is written in URLs and in forms, and in JSON with slashes escaped, as some servers do.
  private mutating func noteForms(of value: String) {
    let escaped = PercentEncoding.value(value)
    // Both cases of an escape's digits are the same (RFC 3986 section 2.1).
    let small = escaped.replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() }
    values.formUnion([value, escaped, small, value.replacing("/", with: "\\/")])
    values.formUnion([escaped, small].map { $0.replacing("%20", with: "+") })
  }

  /// Whether a value is none that stands in other places by chance.
  static func isTelling(_ value: String) -> Bool {
    value.utf8.count >= 8 && value.contains(where: \.isNumber) && value.contains(where: \.isLetter)
  }

  mutating func formUnion(_ other: LearntSecrets) { values.formUnion(other.values) }

  /// The longest first, so that none is cut by another one inside it.
  private var ordered: [String] { values.sorted { ($0.utf8.count, $1) > ($1.utf8.count, $0) } }

  func scrubbed(_ text: String) -> String {
    ordered.reduce(text) { $0.replacing($1, with: RecordingMask.mark) }
  }

  func scrubbed(_ data: Data) -> Data {
    let data = ordered.reduce(data) { $0.replacing(Data($1.utf8), by: Data(RecordingMask.mark.utf8)) }
    // JSON has more than one way to write a character.
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
  /// What stands in its place where nothing else of it may be shown.
  var masked: HTTPURL {
    let head = origin.description
    let text = "\(head)/\(RecordingMask.mark)"
    return HTTPURL(
      unchecked: text, origin: origin, pathStart: head.utf8.count, queryStart: text.utf8.count)
  }
}

extension Data {
  /// The bytes with every occurrence of some replaced.
  func replacing(_ needle: Data, by other: Data) -> Data {
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
