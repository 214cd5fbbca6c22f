/// An absolute `http` or `https` URL that is ready to be sent: every byte of it is legal on the wire.
///
/// It keeps the text as it was given, dots and repeated slashes too. Scheme and host are compared in lower case.
/// Source: RFC 3986 and RFC 9110 section 4.2.
public struct HTTPURL: Sendable, Hashable {
  /// The schemes that can be sent.
  public enum Scheme: String, Sendable, Hashable {
    /// Cleartext.
    case http
    /// Over TLS.
    case https

    /// The port where a URL names none.
    public var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// Scheme, host and port: what a credential belongs to (RFC 9110 section 4.3.1).
  public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme.
    public let scheme: Scheme
    /// The host in lower case; an IPv6 address in brackets.
    public let host: String
    /// The port, the scheme's own where the URL names none.
    public let port: Int

    /// The origin as it stands at the head of a URL.
    public var description: String {
      port == scheme.defaultPort ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
  }

  /// The URL as it is sent, without a fragment.
  public let string: String
  /// Scheme, host and port.
  public let origin: Origin
  /// Where the path begins, in UTF-8 bytes from the start.
  package let pathStart: Int
  /// Where the question mark stands, in UTF-8 bytes; the length of the text where there is none.
  package let queryStart: Int

  package init(unchecked string: String, origin: Origin, pathStart: Int, queryStart: Int) {
    self.string = string
    self.origin = origin
    self.pathStart = pathStart
    self.queryStart = queryStart
  }

  /// The scheme.
  public var scheme: Scheme { origin.scheme }
  /// The host in lower case; an IPv6 address in brackets.
  public var host: String { origin.host }
  /// The port, the scheme's own where the URL names none.
  public var port: Int { origin.port }
  /// The path as it is sent; may be empty.
  public var path: String { slice(pathStart, queryStart) }
  /// The query as it is sent, without the question mark; nil where there is none.
  public var query: String? {
    queryStart < string.utf8.count ? slice(queryStart + 1, string.utf8.count) : nil
  }

  private func slice(_ start: Int, _ end: Int) -> String {
    let utf8 = string.utf8
    return String(decoding: utf8.dropFirst(start).prefix(max(end - start, 0)), as: UTF8.self)
  }

  /// Compares the whole text.
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool { left.string == right.string }
  /// Hashes the whole text.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The URL, the values of its query masked.
  public var description: String { Redaction.url(string) }
  /// The URL, the values of its query masked.
  public var debugDescription: String { description }
  /// What a dump shows: the values of the query masked.
  public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
}
