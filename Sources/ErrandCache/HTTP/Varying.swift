package import ErrandCore
import ErrandSupport

/// What `Vary` says of an answer, and whether another request would have got the same one (RFC 9111 section 4.1).
///
/// Credentials, cookies and whatever is marked as secret are kept as digests.
package enum Varying: Sendable, Hashable {
  /// No other request ever gets it: `Vary: *`, or a field that is added below the cache.
  case never
  /// Requests with these fields get it.
  case fields([VaryingField])

  /// Fields that are added below the cache, so that nobody here knows how they were sent. `Authorization` and `Cookie`
  /// are not among them: the partition tells those apart.
  static let alwaysStamped: Set<String> = [
    "connection", "content-length", "expect", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "proxy-authorization", "range", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Reads what an answer says.
  ///
  /// - Parameters:
  ///   - answer: The fields of the answer.
  ///   - request: The fields that were asked with, as the cache saw them.
  ///   - stamped: More names, in lower case, of fields that were added below the cache: a signature's.
  ///   - isDeclared: Whether a declared lifetime keeps it: then what cannot be compared does not count.
  ///   - salt: The store's own bytes.
  package init(
    answer: HTTPFields, request: HTTPFields, stamped: Set<String>, isDeclared: Bool, salt: [UInt8]
  ) {
    var names = Set(answer.values(of: "Vary").flatMap(FieldList.members).map { $0.lowercased() })
    let unknown = names.filter { $0 == "*" || Self.alwaysStamped.contains($0) || stamped.contains($0) }
    guard unknown.isEmpty || isDeclared else {
      self = .never
      return
    }
    names.subtract(unknown)
    self = .fields(names.sorted().map { Self.field($0, of: request, salt: salt) })
  }

  /// Whether a request has the fields as they were sent for a stored answer.
  package static func matches(_ stored: [VaryingField], _ request: HTTPFields, salt: [UInt8]) -> Bool {
    stored.allSatisfy { $0 == field($0.name, of: request, salt: salt, expected: $0.value) }
  }

  /// Which of the answers under one key it is. What HEAD got stands beside what GET got.
  package static func variant(of fields: [VaryingField], method: HTTPMethod, salt: [UInt8]) -> Digest {
    var form = CanonicalForm("variant", salt: salt)
    form.add(method == .head ? "HEAD" : nil)
    form.add(UInt64(fields.count))
    for field in fields {
      form.add(field.name)
      form.add(field.value)
    }
    return form.digest
  }

  /// - Parameter expected: A normalised value; a field that has it as it stands is not normalised once more.
  private static func field(
    _ name: String, of request: HTTPFields, salt: [UInt8], expected: String? = nil
  ) -> VaryingField {
    let fieldName = HTTPFieldName(name)
    let found = request.all.filter { $0.name == fieldName }
    guard let first = found.first else { return VaryingField(name: name, value: nil) }
    let isSecret = found.contains { $0.isSecret }
    if found.count == 1, !isSecret, expected.hasSameBytes(as: first.value) {
      return VaryingField(name: name, value: expected)
    }
    let value = normalised(found.map(\.value), name)
    return VaryingField(name: name, value: isSecret ? digest(name, value, salt) : value)
  }

  /// Several lines become one; in fields that are known to be lists, space around commas and semicolons becomes that
  /// which most programs write, `a, b;q=0.5`, and letters become small. The values of parameters of `Accept` stay as
  /// they are: those of a media type may differ by case alone (RFC 9110 section 8.3.1).
  private static func normalised(_ lines: [String], _ name: String) -> String {
    let joined = lines.map { String(ASCII.trimmed($0.utf8[...])) ?? $0 }.joined(separator: ", ")
    guard ["accept", "accept-charset", "accept-encoding", "accept-language"].contains(name) else { return joined }
    return FieldList.members(joined).map { member in
      member.split(separator: ";").map { part in
        folded(String(ASCII.trimmed(part.utf8)) ?? String(part), keepingValue: name == "accept")
      }.joined(separator: ";")
    }.joined(separator: ", ")
  }

  /// A text in small letters; with `keepingValue` what follows an equals sign is kept.
  private static func folded(_ text: String, keepingValue: Bool) -> String {
    let end = keepingValue ? text.utf8.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex : text.endIndex
    return String(decoding: text.utf8[..<end].map(ASCII.lowercased), as: UTF8.self) + text[end...]
  }

  private static func digest(_ name: String, _ value: String, _ salt: [UInt8]) -> String {
    var form = CanonicalForm("field", salt: salt)
    form.add(name)
    form.add(value)
    let words = form.digest.words
    return "sha-256 " + [words.0, words.1, words.2, words.3].map(Digest.hexadecimal).joined()
  }
}
