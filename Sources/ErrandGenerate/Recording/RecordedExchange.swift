/// A recorded request and its response, from which a draft is made.
package struct RecordedExchange: Sendable {
  /// The arguments of a query or a form, decoded and in order.
  package typealias Arguments = [(name: String, value: String)]

  package struct Content: Sendable {
    /// The media type with its parameters; empty if it is unknown.
    package var type: String
    /// The bytes; nil if they were not recorded.
    package var bytes: [UInt8]?
    package var form: Arguments = []

    package init(type: String, bytes: [UInt8]?, form: Arguments = []) {
      (self.type, self.bytes, self.form) = (type, bytes, form)
    }
  }

  /// The method in capitals.
  package var method: String
  /// The scheme and the host, with the port if the URL has one, such as `https://api.example.com`.
  package var origin: String
  /// The path as it was sent, with percent-encoding.
  package var path: String
  package var query: Arguments = []
  package var fields: [(name: String, value: String)] = []
  /// The body of the request; nil if it had none.
  package var body: Content?
  package var status: Int
  /// The names of the header fields of the response, in lower case.
  package var responseFields: Set<String> = []
  /// The body of the response; nil if it had none.
  package var response: Content?

  package init(method: String, origin: String, path: String, status: Int) {
    (self.method, self.origin, self.path, self.status) = (method, origin, path, status)
  }

  var host: String { origin.split(separator: "/").last.map(String.init) ?? origin }
  var isGood: Bool { (200..<300).contains(status) }
  var isFailure: Bool { status >= 400 }

  /// Whether the exchange can be a call of an API: not a page, a script, an image or another part of a web page, not a
  /// redirect, and not a question of a browser whether it may send a request.
  var isCall: Bool {
    let parts = ["html", "css", "javascript", "font", "image/", "video/", "audio/"]
    let isPart = parts.contains { response?.type.lowercased().contains($0) ?? false }
    let isKnown = OperationReader.methods.contains(method.lowercased()) && method != "OPTIONS"
    return isKnown && !(method == "GET" && isPart) && (isGood || isFailure)
  }
}

extension RecordedExchange.Content {
  var isJSON: Bool { type.isEmpty ? json != nil : OperationReader.isJSON(type) }
  var isProblem: Bool { type.hasPrefix("application/problem+json") }
  /// The value of the body; nil if it is no complete JSON.
  var json: DocumentNode? { bytes.flatMap { try? JSONReader.read($0) } }

  /// The media type without parameters.
  var essence: String {
    let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    return essence.contains("/") ? essence : "application/octet-stream"
  }
}

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
