/// The version of HTTP that a transport uses.
public enum HTTPVersionPolicy: Sendable, Hashable {
  /// The version that is best for the transport. The engine uses ``http2``. The transport on libcurl uses ``http2``
  /// with libcurl 8.24.0 and later. With earlier versions, it uses HTTP/1.1, because HTTP/2 in these versions loses and
  /// delays responses.
  case automatic
  /// HTTP/2 over TLS if the server offers HTTP/2, otherwise HTTP/1.1. In cleartext, HTTP/1.1 is used.
  case http2
  /// HTTP/1.1 only.
  case http1Only
  /// HTTP/2 also in cleartext, without asking the server first (RFC 9113 section 3.3). With libcurl, each exchange in
  /// cleartext has a separate connection.
  case http2PriorKnowledge
}
