import ErrandSupport

/// A request as it is sent: method, URL, header fields and body. Later interceptors may add fields.
///
/// Interceptors can read and change it. Only the transport sets framing fields (`Content-Length`, `Transfer-Encoding`,
/// `Host`, `Connection` …); a request with one of them is rejected.
public struct HTTPRequest: Sendable {
  private struct Parts: Sendable {
    var method: HTTPMethod
    var url: HTTPURL
    var fields: HTTPFields
    var body: HTTPBody?
  }

  /// Boxed, so that interceptors, records and the transport share one copy.
  private var parts: Boxed<Parts>

  /// Makes a request.
  public init(method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil) {
    parts = Boxed(Parts(method: method, url: url, fields: fields, body: body))
  }

  /// The method.
  public var method: HTTPMethod {
    get { parts.value.method }
    set { parts.change { $0.method = newValue } }
  }

  /// The URL to which the request is sent.
  public var url: HTTPURL {
    get { parts.value.url }
    set { parts.change { $0.url = newValue } }
  }

  /// The header fields.
  public var fields: HTTPFields {
    get { parts.value.fields }
    set { parts.change { $0.fields = newValue } }
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

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Method and URL; secrets are masked.
  public var description: String { "\(method) \(url)" }
  /// Method and URL; secrets are masked.
  public var debugDescription: String { description }
  /// The mirror that a dump shows: the fields with secrets masked, and the length of the body.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["request": description, "fields": fields.description, "body": body?.measure ?? "none"],
      displayStyle: .struct)
  }
}
