package import ErrandCore
import ErrandSupport

/// The request fields that the field `Vary` of a response names. Requests with the same values in these fields receive
/// the same response (RFC 9111 section 4.1).
///
/// The values of fields that are marked as secret, such as credentials and cookies, are stored as digests.
package enum Varying: Sendable, Hashable {
  /// The stored response matches no other request. Either the response has `Vary: *`, or `Vary` names a field that is
  /// added between the cache and the server, so that the cache does not know its value.
  case never
  /// The stored response matches every request in which these fields have the same values.
  case fields([VaryingField])

  /// The names of fields that interceptors or the transport add between the cache and the server, so that the cache
  /// does not know the sent values. `Authorization` and `Cookie` are not in the list, because each account has its own
  /// stored responses (``CachePartition``).
  static let alwaysChangedFields: Set<String> = [
    "connection", "content-length", "expect", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "proxy-authorization", "range", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Evaluates the `Vary` fields of a response.
  ///
  /// - Parameters:
  ///   - response: The fields of the response.
  ///   - request: The fields of the request, as the cache received them.
  ///   - changedFields: Further names, in lower case, of fields that are changed or added between the cache and the
  ///     server, such as the fields of a signature.
  ///   - isDeclared: Whether the request declares a lifetime. If so, fields with unknown values are ignored.
  ///   - salt: The random bytes of the store.
  package init(
    response: HTTPFields, request: HTTPFields, changedFields: Set<String>, isDeclared: Bool, salt: [UInt8]
  ) {
    var names = Set(response.values(of: "Vary").flatMap(FieldList.members).map { $0.lowercased() })
    let unknown = names.filter { $0 == "*" || Self.alwaysChangedFields.contains($0) || changedFields.contains($0) }
    guard unknown.isEmpty || isDeclared else {
      self = .never
      return
    }
    names.subtract(unknown)
    self = .fields(names.sorted().map { Self.field($0, of: request, salt: salt) })
  }

  /// Whether the fields of a request match the fields with which a stored response was requested.
  package static func matches(_ stored: [VaryingField], _ request: HTTPFields, salt: [UInt8]) -> Bool {
    stored.allSatisfy { $0 == field($0.name, of: request, salt: salt, expected: $0.value) }
  }

  /// The digest of a variant. It identifies a response among all responses under one key. The digest also depends on
  /// whether the method is HEAD, so that a response to HEAD does not replace a response to GET.
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

  /// Returns a field of a request with its value in normal form, or with the digest of a secret value.
  /// - Parameter expected: A value in normal form. If the field has exactly this value, it is not normalised again.
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

  /// Joins several field lines into one value in a normal form. In fields that are lists, the form is `a, b;q=0.5` and
  /// letters become lower case. The parameter values of `Accept` are not changed, because case may matter in the
  /// parameters of a media type (RFC 9110 section 8.3.1).
  private static func normalised(_ lines: [String], _ name: String) -> String {
    let joined = lines.map { String(ASCII.trimmed($0.utf8[...])) ?? $0 }.joined(separator: ", ")
    guard ["accept", "accept-charset", "accept-encoding", "accept-language"].contains(name) else { return joined }
    return FieldList.members(joined).map { member in
      member.split(separator: ";").map { part in
        folded(String(ASCII.trimmed(part.utf8)) ?? String(part), keepingValue: name == "accept")
      }.joined(separator: ";")
    }.joined(separator: ", ")
  }

  /// Converts a text to lower case. If `keepingValue` is true, the text from the equals sign on is not changed.
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
