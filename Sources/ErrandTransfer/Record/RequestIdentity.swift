package import ErrandCore
import ErrandSupport

/// What a part was asked with. Bytes asked with another identity are never put together with it.
package struct RequestIdentity: Sendable, Hashable, Codable {
  /// The method.
  package let method: String
  /// The first URL, before any redirect. It may hold a secret, such as a signature: that is why the record is private.
  package let url: String
  /// A hash of the fields that may choose what is answered, and of the account; 32 hexadecimal digits.
  package let variant: String

  package init(method: String, url: String, variant: String) {
    self.method = method
    self.url = url
    self.variant = variant
  }

  /// Names a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The URL that the caller named.
  ///   - fields: The fields of the request, without those that a signature adds anew each time.
  ///   - account: Who is logged in, as the credential provider names them. Where there is one, `Authorization` does not
  ///     count, since tokens come and go; where there is none, the secrets themselves tell people apart.
  ///   - transport: What servers know the transport by, such as a client certificate.
  package init(method: HTTPMethod, url: HTTPURL, fields: HTTPFields, account: String?, transport: String? = nil) {
    self.init(method: method.rawValue, url: url.string, variant: Self.variant(fields, account, transport))
  }

  /// The same with a name in place of the URL, where there is one.
  package func naming(_ resource: String?) -> RequestIdentity {
    RequestIdentity(method: method, url: resource ?? url, variant: variant)
  }

  /// Whether both ask for the same, whatever the URL: for links that are signed anew.
  package func isSame(exceptURL other: RequestIdentity) -> Bool {
    method.hasSameBytes(as: other.method) && variant == other.variant
  }

  /// Compares byte by byte, also the name that stands in place of a URL.
  package static func == (left: RequestIdentity, right: RequestIdentity) -> Bool {
    left.isSame(exceptURL: right) && left.url.hasSameBytes(as: right.url)
  }

  /// Hashes the bytes.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(ByteText(url))
    hasher.combine(variant)
  }

  /// Fields that do not choose what is answered, or that change with every request.
  private static let leftOut: Set<String> = [
    "accept-encoding", "cache-control", "connection", "content-length", "date", "expect", "host", "idempotency-key",
    "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "pragma",
    "priority", "proxy-authorization", "range", "referer", "te", "traceparent", "tracestate", "trailer",
    "transfer-encoding", "upgrade", "user-agent", "want-content-digest", "want-repr-digest", "x-correlation-id",
    "x-request-id",
  ]

  private static func variant(_ fields: HTTPFields, _ account: String?, _ transport: String?) -> String {
    var hash = StableHash()
    hash.add(account == nil ? "nobody" : "account")
    if let account { hash.add(account) }
    if let transport { hash.add(transport) }
    let counted = fields.all.map { (name: $0.name.rawValue.lowercased(), field: $0) }
      .filter { !leftOut.contains($0.name) && (account == nil || $0.name != "authorization") }
    // Lines of one name keep their order: that may matter.
    for name in Set(counted.map(\.name)).sorted() {
      hash.add(name)
      for (_, field) in counted.filter({ $0.name == name }) {
        if field.isSecret { hash.add(secret: field.value) } else { hash.add(field.value) }
      }
    }
    return hash.text
  }
}
