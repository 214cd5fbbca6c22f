import ErrandSupport

/// A request as it is sent: method, URL, header fields and body. Interceptors can read and change a request, and later
/// interceptors may still add fields.
///
/// Only the transport sets framing fields (`Content-Length`, `Transfer-Encoding`, `Host`, `Connection` …). A request
/// that already contains such a field is rejected.
public struct HTTPRequest: Sendable {
  private struct Parts: Sendable {
    var method: HTTPMethod
    var url: HTTPURL
    var fields: HTTPFields
    var body: HTTPBody?
  }

  /// The method, URL, fields and body are stored in one object, which all copies of a request share until a copy is
  /// changed.
  private var parts: Boxed<Parts>

  /// Makes a request. The method and the header fields are checked later, before the request is sent.
  public init(method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil) {
    parts = Boxed(Parts(method: method, url: url, fields: fields, body: body))
  }

  /// The method, such as `GET`.
  public var method: HTTPMethod {
    get { parts.value.method }
    set { parts.change { $0.method = newValue } }
  }

  /// The URL to which the request is sent.
  public var url: HTTPURL {
    get { parts.value.url }
    set { parts.change { $0.url = newValue } }
  }

  /// The header fields, without the fields that the transport adds, such as `Host`.
  public var fields: HTTPFields {
    get { parts.value.fields }
    set { parts.change { $0.fields = newValue } }
  }

  /// Not available. The header fields are ``fields``.
  @available(*, unavailable, renamed: "fields")
  public var headers: HTTPFields {
    get { fields }
    set { fields = newValue }
  }

  /// The body; nil if the request has no body, which is different from an empty body.
  public var body: HTTPBody? {
    get { parts.value.body }
    set { parts.change { $0.body = newValue } }
  }

  /// Makes a request with a URL given as text.
  /// - Throws: ``HTTPURL/Invalid`` if the text is not a URL that can be sent.
  public init(
    method: HTTPMethod = .get, url: String, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil
  ) throws(HTTPURL.Invalid) {
    self.init(method: method, url: try HTTPURL(url), fields: fields, body: body)
  }
}

extension HTTPRequest: Masked {
  /// The method and the URL. Secrets in the URL are masked.
  public var description: String { "\(method) \(url)" }
  /// The fields with secrets masked, and the length of the body.
  package var shownParts: KeyValuePairs<String, Any> {
    ["request": description, "fields": fields.description, "body": body?.measure ?? "none"]
  }
}

/// The method of a request (RFC 9110 section 9): a known method or any other token.
///
/// A method is checked when a call is built: if it is not a token, the call fails with
/// ``ErrandCore/APIError/Code/invalidMethod``.
public struct HTTPMethod: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral {
  /// The method as it is sent; its case is kept.
  public let rawValue: String

  /// Makes a method from any token, such as `"PURGE"`.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Makes a method from any token.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a method from a literal token.
  public init(stringLiteral value: String) { rawValue = value }

  /// Reads a resource.
  public static let get = HTTPMethod("GET")
  /// Submits data to a resource.
  public static let post = HTTPMethod("POST")
  /// Replaces a resource.
  public static let put = HTTPMethod("PUT")
  /// Changes part of a resource (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// Removes a resource.
  public static let delete = HTTPMethod("DELETE")
  /// Reads only the response headers.
  public static let head = HTTPMethod("HEAD")
  /// Asks for the options of a resource.
  public static let options = HTTPMethod("OPTIONS")
  /// Reads the result of a query that the body contains (RFC 10008).
  ///
  /// The method is safe and idempotent, as GET is: such a request is retried, joined and cached, and its body is part of
  /// what must be equal. Arguments go into a form or a JSON body. ``HTTPResponse/acceptQuery`` tells which formats a
  /// resource accepts.
  public static let query = HTTPMethod("QUERY")

  /// Whether the method is safe: requests with the method only read (RFC 9110 section 9.2.1, RFC 10008 section 2). An
  /// unknown method is not safe.
  package var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "QUERY", "TRACE": true
    default: false
    }
  }

  /// Whether sending a request several times has the same effect as sending it once (RFC 9110 section 9.2.2).
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether the client may add stored secrets to a request with the method: credentials, cookies and other secret
  /// fields. A server sends the fields of a TRACE request back in the body of its response, where secrets must not be
  /// (RFC 9110 section 9.3.8).
  package var mayCarryStoredSecrets: Bool { rawValue != "TRACE" }

  /// Whether the arguments of a request go into the query by default; otherwise they go into the body.
  package var takesArgumentsInQuery: Bool {
    switch rawValue {
    case "GET", "HEAD", "DELETE": true
    default: false
    }
  }
}

/// Members that are not available. The compiler rejects a use of one of them and names the right member.
extension HTTPMethod {
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "get")
  public static var GET: HTTPMethod { .get }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "post")
  public static var POST: HTTPMethod { .post }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "put")
  public static var PUT: HTTPMethod { .put }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "patch")
  public static var PATCH: HTTPMethod { .patch }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "delete")
  public static var DELETE: HTTPMethod { .delete }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "head")
  public static var HEAD: HTTPMethod { .head }
  /// Not available. The constants are written in lower case.
  @available(*, unavailable, renamed: "options")
  public static var OPTIONS: HTTPMethod { .options }
}

extension HTTPMethod: CustomStringConvertible {
  /// The method as it is sent.
  public var description: String { rawValue }
}
