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
  /// The method and the URL. Secrets in the URL are masked.
  public var description: String { "\(method) \(url)" }
  /// The method and the URL. Secrets in the URL are masked.
  public var debugDescription: String { description }
  /// The mirror that a dump shows: the fields with secrets masked, and the length of the body.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["request": description, "fields": fields.description, "body": body?.measure ?? "none"],
      displayStyle: .struct)
  }
}
