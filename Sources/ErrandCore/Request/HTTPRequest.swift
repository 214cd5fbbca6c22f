/// A request as it is sent: method, URL, fields and body, all of them final but for what the stations below add.
///
/// Interceptors see and change it. Framing fields (`Content-Length`, `Transfer-Encoding`, `Host`, `Connection` …) are
/// the transport's and are refused here.
public struct HTTPRequest: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// Where it goes.
  public var url: HTTPURL
  /// The header fields.
  public var fields: HTTPFields
  /// The body; nil for none at all, which is not the same as an empty one.
  public var body: HTTPBody?

  /// Makes a request of its parts.
  public init(method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields(), body: HTTPBody? = nil) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
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
