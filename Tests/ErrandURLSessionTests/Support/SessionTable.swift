#if canImport(FoundationNetworking)
  /// The checks that URLSession on Linux does not pass, by their names. All other checks pass.
  ///
  /// The table records the present behaviour of Foundation. If a newer version passes a listed check, the test fails
  /// and the entry must be removed.
  enum SessionTable {
    /// Passes most of the time: if the server's reset arrives early, the response that was not read yet is lost.
    static let races = ["early response to an upload is delivered"]

    /// Foundation ends the process: "Transfer completed, but there's no response".
    static let dies = ["closed in the head", "valid response with trailers"]

    /// Foundation takes time that is quadratic in the number of lines. A stop and the deadline still end the call.
    static let hangs = ["flood of trailers"]

    /// The transport declares that it lacks the capability.
    static let lacks = [
      "1xx responses are reported", "trailers arrive after the body", "metrics cover the phases",
      "metrics name the peer", "metrics of a failure cover received data", "refused connection has no response metrics",
      "sink receives the body in pieces", "empty body ends the sink", "error page does not reach the sink",
      "long error page is truncated", "discarded body leaves nothing",
      "paused sink continues after resume", "resume during the pausing write counts",
      "error of a sink reaches the caller", "stop ends a paused body", "paused sink is not idle",
      "bodies of both directions alternate",
    ]

    /// The transport behaves differently, for the given reason.
    static let fails = [
      // GET has no body; a request that must not be repeated gets its own connection.
      "method and body arrive unchanged",
      // Fields lose their order and their case, and fields of one name are combined; User-Agent, Accept-Language,
      // Accept, Accept-Encoding and Connection are added if they are missing. Dot segments in a path are rejected.
      "fields are sent unchanged", "no field is added to a request",
      // Foundation does not read a status line without a reason phrase.
      "reason phrase may be missing",
      // Reason phrase and version are not available.
      "response fields arrive unchanged", "HTTP/1.0 response is accepted",
      // 300 fields of one name arrive as one field; a flood of informational responses is rejected at the first one.
      "too many fields", "flood of informational responses",
      // A connection with unrequested bytes is reused for GET.
      "unsolicited bytes are not a response", "bytes after the end close the connection",
      // A gzip stream that the server itself has truncated counts as complete.
      "truncated coded body is a failure",
      // libcurl tolerates these, which the layers above cannot see.
      "HTTP/2 in text", "HTTP/2.0 in text", "a bare CR", "a chunk size with bare LF",
      "a lower-case version", "chunks in HTTP/1.0", "flood of chunk extensions",
    ]

    static func expected(_ name: String) -> ProbeEnd {
      if dies.contains(name) { return .dies }
      if hangs.contains(name) { return .hangs }
      if lacks.contains(name) { return .lacks }
      return fails.contains(name) ? .fails : .passes
    }
  }
#endif
