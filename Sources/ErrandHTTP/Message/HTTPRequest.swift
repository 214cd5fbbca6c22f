import ErrandSupport

/// A request as it is sent: method, URL, fields and body, all of them final but for what the stations below add.
///
/// Interceptors see and change it. Framing fields (`Content-Length`, `Transfer-Encoding`, `Host`, `Connection` …) are
/// the transport's and are refused here.
public struct HTTPRequest: Sendable {
  private struct Parts: Sendable {
    var method: HTTPMethod
    var url: HTTPURL
    var fields: HTTPFields
    var body: HTTPBody?
  }

  /// Held once: stations, records and the transport all have it.
  private var parts: Boxed<Parts>

  /// Makes a request of its parts.
  public init(method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil) {
    parts = Boxed(Parts(method: method, url: url, fields: fields, body: body))
  }

  /// The method.
  public var method: HTTPMethod {
    get { parts.value.method }
    set { parts.change { $0.method = newValue } }
  }

  /// Where it goes.
  public var url: HTTPURL {
    get { parts.value.url }
    set { parts.change { $0.url = newValue } }
  }

  /// The header fields.
  public var fields: HTTPFields {
    get { parts.value.fields }
    set { parts.change { $0.fields = newValue } }
  }

  /// The body; nil for none at all, which is not the same as an empty one.
  public var body: HTTPBody? {
    get { parts.value.body }
    set { parts.change { $0.body = newValue } }
  }

  /// Makes a request for a URL given as text.
  /// - Throws: ``HTTPURL/Invalid`` where the text is no URL that can be sent.
  public init(
    method: HTTPMethod = .get, url: String, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil
  ) throws(HTTPURL.Invalid) {
    self.init(method: method, url: try HTTPURL(url), fields: fields, body: body)
  }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Method and URL, secrets masked.
  public var description: String { "\(method) \(url)" }
  /// Method and URL, secrets masked.
  public var debugDescription: String { description }
  /// What a dump shows: fields with secrets masked, and the length of the body.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["request": description, "fields": fields.description, "body": body?.measure ?? "none"],
      displayStyle: .struct)
  }
}
