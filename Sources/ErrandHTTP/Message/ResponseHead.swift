/// The head of a response: status line and header fields (RFC 9112 section 4).
public struct ResponseHead: Sendable, Hashable {
  /// The version of HTTP of a response.
  public enum Version: String, Sendable, Hashable {
    /// HTTP/1.0.
    case http1_0 = "HTTP/1.0"
    /// HTTP/1.1.
    case http1_1 = "HTTP/1.1"
    /// HTTP/2.
    case http2 = "HTTP/2"
    /// HTTP/3.
    case http3 = "HTTP/3"
  }

  /// The status code: three digits, 100 to 999. Codes above 599, which are outside the range of RFC 9110 section 15,
  /// are kept unchanged.
  public var status: Int
  /// The reason phrase that the server sent; often empty.
  public var reason: String
  /// The version of HTTP.
  public var version: Version
  /// The header fields.
  public var fields: HTTPFields

  /// Makes a head.
  public init(status: Int, reason: String = "", version: Version = .http1_1, fields: HTTPFields = HTTPFields()) {
    self.status = status
    self.reason = reason
    self.version = version
    self.fields = fields
  }

  /// Whether the status means success: 200 to 299.
  public var isSuccess: Bool { (200...299).contains(status) }
}
