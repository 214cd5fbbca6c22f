/// What a draft does with a header field of requests.
enum RecordedField {
  /// HTTP, the browser or the library sends it.
  case standard
  /// The API asks for it; it becomes a parameter.
  case own
  case authorization
  case secret

  /// The kind of the field with a name in lower case.
  init(_ name: String) {
    if name == "authorization" {
      self = .authorization
    } else if Self.known.contains(name) || Self.beginnings.contains(where: { name.hasPrefix($0) }) {
      self = .standard
    } else {
      self = Self.secrets.contains { name.contains($0) } ? .secret : .own
    }
  }

  private static let secrets = [
    "auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token", "csrf",
  ]
  private static let known: Set<String> = [
    "accept", "baggage", "cache-control", "connection", "cookie", "dnt", "expect", "forwarded", "from", "host",
    "idempotency-key", "keep-alive", "max-forwards", "origin", "pragma", "priority", "range", "referer", "te",
    "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent",
    "via", "x-requested-with",
  ]
  /// The beginnings of fields of browsers, proxies and HTTP. A name with a colon is a pseudo field of HTTP/2.
  private static let beginnings = [
    ":", "accept-", "access-control-", "content-", "if-", "proxy-", "sec-", "x-forwarded-",
  ]
}
