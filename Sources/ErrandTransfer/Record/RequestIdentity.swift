package import ErrandCore
import ErrandSupport

/// The identity of the request that a partial file belongs to. Bytes of requests with different identities are never
/// combined.
package struct RequestIdentity: Sendable, Hashable, Codable {
  package let method: String
  /// The URL of the request before any redirect. It may contain a secret, such as a signature. For this reason only the
  /// user may read the record file.
  package let url: String
  /// A hash of the account and of the fields that may select the response; 32 hexadecimal digits.
  package let variant: String

  package init(method: String, url: String, variant: String) {
    self.method = method
    self.url = url
    self.variant = variant
  }

  /// Identifies a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The URL before any redirect.
  ///   - fields: The fields of the request, without those that a signature changes each time.
  ///   - account: The account of the credential provider. If there is an account, `Authorization` is ignored, because
  ///     tokens change. Without an account, the value of `Authorization` distinguishes users.
  ///   - transport: The identity that the transport shows to servers, such as a client certificate.
  package init(method: HTTPMethod, url: HTTPURL, fields: HTTPFields, account: String?, transport: String? = nil) {
    self.init(method: method.rawValue, url: url.string, variant: Self.variant(fields, account, transport))
  }

  /// The identity of the request of a call, which decides whether a partial file belongs to this request.
  ///
  /// If the request sets its own credential, the identity contains this credential. The pipeline adds the credential to
  /// the fields later, so this function adds it to a copy of the fields. If the request does not use the account's
  /// credential, the identity does not contain the account.
  package init(of request: HTTPRequest, _ context: CallContext) {
    var fields = request.fields
    let access = context.plan.access
    let own = access.authorizationOverride ?? access.ownCredential
    if let own, !own.isEmpty, !fields.contains(.authorization) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    self.init(
      method: request.method, url: request.url, fields: fields,
      account: access.authorizationOverride == nil ? context.account : nil, transport: access.transportIdentity)
  }

  /// This identity with a resource name in place of the URL; unchanged if the name is nil.
  package func naming(_ resource: String?) -> RequestIdentity {
    RequestIdentity(method: method, url: resource ?? url, variant: variant)
  }

  /// Whether this identity and another identity differ at most in their URLs. Use this method for signed links, because
  /// their URLs change with each signature.
  package func isSame(exceptURL other: RequestIdentity) -> Bool {
    method.hasSameBytes(as: other.method) && variant == other.variant
  }

  /// Compares method, variant and URL byte by byte. The URL may be replaced by the name in
  /// ``ErrandCore/Download/resource``.
  package static func == (left: RequestIdentity, right: RequestIdentity) -> Bool {
    left.isSame(exceptURL: right) && left.url.hasSameBytes(as: right.url)
  }

  /// Hashes the bytes that `==` compares.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(ByteText(url))
    hasher.combine(variant)
  }

  /// The names of fields that do not select the response, or that change with every request. The identity ignores them.
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
    // Several fields of one name keep their order, because the order may be significant.
    for name in Set(counted.map(\.name)).sorted() {
      hash.add(name)
      for (_, field) in counted.filter({ $0.name == name }) {
        if field.isSecret { hash.add(secret: field.value) } else { hash.add(field.value) }
      }
    }
    return hash.text
  }
}
