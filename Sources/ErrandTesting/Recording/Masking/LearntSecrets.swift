import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// Secret values that were masked in one place of a recording. These values must also be masked in all other places.
struct LearntSecrets: Sendable {
  /// The smallest number of bytes of a value. Its first eight bytes are the key of `lengths`.
  private static let shortest = 8

  private var values: Set<ByteText> = []
  /// Whether a value begins with two given bytes. Most places of a text are excluded by this table, which is fast, so
  /// that the time for a text does not depend on the number of values. Empty until there is a value.
  private var begins: [Bool] = []
  /// The lengths of the values in bytes, by their first eight bytes. The longest is first.
  private var lengths: [UInt64: [Int]] = [:]

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
    // In HTML forms, a space is encoded as a plus sign.
    for text in [value, value.replacingBytes(of: "+", with: " ")] {
      // The escapes of a short word have both letters and digits, so the decoded value decides.
      let plain = text.removingPercentEncoding ?? text
      guard Self.isDistinctive(plain) else { continue }
      addForms(of: text)
      addForms(of: plain)
    }
  }

  /// Adds a value in every form in which it can occur: in URLs, in HTML forms, and in JSON with escaped slashes, which
  /// some servers send.
  private mutating func addForms(of value: String) {
    for form in PercentEncoding.forms(of: value) + [value, value.replacingBytes(of: "/", with: "\\/")] {
      insert(form)
    }
  }

  /// Adds one form of a value. No form is shorter than the value, which has at least eight bytes.
  private mutating func insert(_ form: String) {
    guard values.insert(ByteText(form)).inserted else { return }
    let bytes = Array(form.utf8)
    if begins.isEmpty { begins = Array(repeating: false, count: 1 << 16) }
    begins[Int(bytes[0]) << 8 | Int(bytes[1])] = true
    let head = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    let known = lengths[head, default: []]
    if !known.contains(bytes.count) { lengths[head] = (known + [bytes.count]).sorted(by: >) }
  }

  /// Whether a value is so distinctive that an equal text elsewhere is certainly the same value. Such a value has at
  /// least eight bytes, and both letters and digits.
  static func isDistinctive(_ value: String) -> Bool {
    let scalars = value.unicodeScalars.lazy.map(\.properties)
    return value.utf8.count >= 8 && scalars.contains { $0.numericType != nil } && scalars.contains { $0.isAlphabetic }
  }

  mutating func formUnion(_ other: LearntSecrets) {
    for value in other.values { insert(value.text) }
  }

  func masked(_ text: String) -> String {
    var copy = text
    let bytes = copy.withUTF8 { replaced(UnsafeRawBufferPointer($0)) }
    return bytes.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  func masked(_ data: Data) -> Data {
    let bytes = data.withUnsafeBytes { replaced($0) }.map { Data($0) } ?? data
    // JSON can escape any character, so a secret may not be visible in the text. The decoded strings are searched, too.
    guard bytes.contains(UInt8(ascii: "\\")), let value = try? JSONValue(parsing: bytes) else { return bytes }
    let masked = masked(value)
    return masked == value ? bytes : (try? masked.serialized()) ?? Data(RecordingMask.mark.utf8)
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

  /// A copy of a text in which the mask replaces each value. Values that overlap get one mask. Nil if the text contains
  /// no value.
  private func replaced(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard !values.isEmpty, text.count >= Self.shortest else { return nil }
    var written: [UInt8] = []
    var end = 0
    for start in 0...(text.count - Self.shortest) where begins[Int(text[start]) << 8 | Int(text[start + 1])] {
      guard let length = length(ofValueAt: start, in: text) else { continue }
      if start >= end {
        written += text[end..<start]
        written += RecordingMask.mark.utf8
      }
      end = max(end, start + length)
    }
    return end > 0 ? written + text[end...] : nil
  }

  /// The length of the longest value that begins at a place of a text; nil if none begins there.
  private func length(ofValueAt start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    lengths[text.loadUnaligned(fromByteOffset: start, as: UInt64.self)]?.first { length in
      guard start + length <= text.count else { return false }
      return values.contains(ByteText(String(decoding: text[start..<(start + length)], as: UTF8.self)))
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

  private func masked(_ head: ResponseHead) -> ResponseHead {
    var head = head
    head.reason = masked(head.reason)
    head.fields = masked(head.fields)
    return head
  }

  func masked(_ answer: ScriptedAnswer) -> ScriptedAnswer {
    var answer = answer
    answer.head = masked(answer.head)
    answer.body = masked(answer.body)
    answer.trailers = masked(answer.trailers)
    answer.informational = answer.informational.map { masked($0) }
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
