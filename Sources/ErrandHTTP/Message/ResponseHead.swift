/// The head of a response: the status line and the header fields (RFC 9112 section 4).
public struct ResponseHead: Sendable, Hashable {
  /// The HTTP version of a response.
  public enum Version: String, Sendable, Hashable {
    /// The version HTTP/1.0 (RFC 1945).
    case http1_0 = "HTTP/1.0"
    /// The version HTTP/1.1 (RFC 9112).
    case http1_1 = "HTTP/1.1"
    /// The version HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// The version HTTP/3 (RFC 9114).
    case http3 = "HTTP/3"
  }

  /// The status code: three digits, 100 to 999. Codes above 599, which are outside the range of RFC 9110 section 15,
  /// are kept unchanged.
  public var status: Int
  /// The reason phrase that the server sent. It is often empty.
  public var reason: String
  /// The HTTP version of the response.
  public var version: Version
  /// The header fields of the response.
  public var fields: HTTPFields

  /// Makes a head. Transports and tests need this initializer; apps receive heads with their responses.
  public init(status: Int, reason: String = "", version: Version = .http1_1, fields: HTTPFields = HTTPFields()) {
    self.status = status
    self.reason = reason
    self.version = version
    self.fields = fields
  }

  /// Whether the status means success: 200 to 299 (RFC 9110 section 15.3).
  public var isSuccess: Bool { (200...299).contains(status) }
}
