import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// Secret values that were masked in one place of a recording. These values must also be masked in all other places.
struct LearntSecrets: Sendable {
  private var values: Set<ByteText> = []

  /// Adds a secret value. A value that is short or a plain word is ignored, because an equal text may occur elsewhere
  /// without being secret.
  ///
  /// If the value is a URL, its path and its query are added, too, because a request to the URL contains them
  /// separately.
  mutating func learn(_ value: some StringProtocol) {
    add(String(value))
    guard let url = try? HTTPURL(String(value)) else { return }
    // The path is added without its leading slash. So a URL still has a slash between host and path after the path is
    // masked.
    add(String(url.path.dropFirst()))
    if let query = url.query { add(query) }
  }

  private mutating func add(_ value: String) {
    guard Self.isDistinctive(value) else { return }
    // In HTML forms, a space is encoded as a plus sign.
    for text in [value, value.replacingBytes(of: "+", with: " ")] {
      addForms(of: text)
      if let plain = text.removingPercentEncoding { addForms(of: plain) }
    }
  }

  /// Adds a value in every form in which it can occur: in URLs, in HTML forms, and in JSON with escaped slashes, which
  /// some servers send.
  private mutating func addForms(of value: String) {
    let escaped = PercentEncoding.value(value)
    // The hexadecimal digits of an escape may be upper case or lower case (RFC 3986 section 2.1).
    let small = escaped.replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() }  // ASCII
    let forms = [escaped, small].map { $0.replacingBytes(of: "%20", with: "+") }
    for form in forms + [value, escaped, small, value.replacingBytes(of: "/", with: "\\/")] {
      values.insert(ByteText(form))
    }
  }

  /// Whether a value is so distinctive that an equal text elsewhere is certainly the same value. Such a value has at
  /// least eight bytes, and both letters and digits.
  static func isDistinctive(_ value: String) -> Bool {
    let scalars = value.unicodeScalars.lazy.map(\.properties)
    return value.utf8.count >= 8 && scalars.contains { $0.numericType != nil } && scalars.contains { $0.isAlphabetic }
  }

  mutating func formUnion(_ other: LearntSecrets) { values.formUnion(other.values) }

  /// The values, the longest first. So a long value is masked before a shorter value that is part of it.
  private var ordered: [String] {
    values.map(\.text).sorted {
      $0.utf8.count == $1.utf8.count ? $0.precedesByBytes($1) : $0.utf8.count > $1.utf8.count
    }
  }

  func masked(_ text: String) -> String {
    ordered.reduce(text) { $0.replacingBytes(of: $1, with: RecordingMask.mark) }
  }

  func masked(_ data: Data) -> Data {
    let data = ordered.reduce(data) { $0.replacing(Data($1.utf8), by: Data(RecordingMask.mark.utf8)) }  // bytes
    // JSON can escape any character, so a secret may not be visible in the text. The decoded strings are searched, too.
    guard data.contains(UInt8(ascii: "\\")), let value = try? JSONValue(parsing: data) else { return data }
    let masked = masked(value)
    return masked == value ? data : (try? masked.serialized()) ?? Data(RecordingMask.mark.utf8)
  }

  private func masked(_ value: JSONValue) -> JSONValue {
    switch value.content {
    case .string(let text): .string(masked(text))
    case .array(let elements): .array(elements.map { masked($0) })
    case .object(let members):
      .object(Dictionary(members.map { (masked($0), masked($1)) }, uniquingKeysWith: { first, _ in first }))
    default: value
    }
  }

  func masked(_ fields: HTTPFields) -> HTTPFields {
    HTTPFields(fields.all.map { HTTPField($0.name, masked($0.value), isSecret: $0.isSecret) })
  }

  func masked(_ url: HTTPURL) -> HTTPURL { (try? HTTPURL(masked(url.string))) ?? url.masked }

  func masked(_ failure: TransportFailure?) -> TransportFailure? {
    failure.map {
      TransportFailure($0.kind, masked($0.description), isCertainlyNotSent: $0.isCertainlyNotSent)
    }
  }

  func masked(_ request: HTTPRequest) -> HTTPRequest {
    HTTPRequest(
      method: request.method, url: masked(request.url), fields: masked(request.fields),
      body: request.body?.data.map { HTTPBody(masked($0)) })
  }

  func masked(_ answer: ScriptedAnswer) -> ScriptedAnswer {
    var answer = answer
    answer.head.fields = masked(answer.head.fields)
    answer.body = masked(answer.body)
    answer.trailers = masked(answer.trailers)
    for index in answer.informational.indices {
      answer.informational[index].fields = masked(answer.informational[index].fields)
    }
    answer.failure = masked(answer.failure)
    answer.breakage = masked(answer.breakage)
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
  /// A copy in which every occurrence of `needle` is replaced by `other`. The search compares bytes.
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
