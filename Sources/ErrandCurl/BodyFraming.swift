#if os(Linux)
  /// How the end of a body is found (RFC 9112 section 6.3).
  enum BodyFraming: Sendable, Hashable {
    /// There is no body, whatever the head says.
    case none
    /// So many bytes.
    case length(Int64)
    /// Chunks up to the last one.
    case chunked
    /// Up to the end of the connection, or of the HTTP/2 stream.
    case untilClose
  }
#endif
