#if canImport(FoundationNetworking)
  /// What URLSession on Linux does not do as the seam has it, by the names of the checks. Whatever is not listed passes.
  ///
  /// It is a record of Foundation as it is: where a newer one does better, the test says so, and the line goes.
  enum SessionTable {
    /// Passes, but for once in a while: what the server has sent is lost where its reset comes before it was read.
    static let races = ["an early answer to an upload counts"]

    /// Foundation ends the process: "Transfer completed, but there's no response".
    static let dies = ["closed in the head", "a valid answer with trailers"]

    /// Foundation works on, in squares of the number of lines. A stop and the deadline end the call all the same.
    static let hangs = ["flood of trailers"]

    /// What the transport declares as lacking.
    static let lacks = [
      "informational answers are told", "trailers come behind the body", "metrics tell of the phases",
      "metrics of a failure tell what came", "metrics of a refusal have no connection",
      "a sink gets the body piece by piece", "an error page never reaches the sink",
      "a long error page is cut", "a discarded body leaves nothing",
      "a paused sink goes on when resumed", "a resume inside the pausing write counts",
      "what a sink throws reaches the caller", "a stop ends a paused body", "a paused sink is not idle",
    ]

    /// What it does otherwise than the seam has it, and why.
    static let fails = [
      // GET has no body; one that must not be repeated has a connection of its own.
      "method and body arrive as they are",
      // Fields lose their order and their case, and those of one name become one; User-Agent, Accept-Language, Accept,
      // Accept-Encoding and Connection are added where they are not given. Dots in a path are refused.
      "fields are sent as given", "nothing is added to a request",
      // The reason and the version are not told.
      "fields come as they were sent", "HTTP/1.0 is understood",
      // 300 fields of one name are one field by then; a flood of informational answers is refused by its first.
      "too many fields", "flood of informational answers",
      // A connection with bytes that nobody asked for is used again by GET.
      "unasked bytes are nobody's answer", "bytes behind the end close the connection",
      // A gzip stream that the server itself has cut short counts as whole.
      "a coded body cut short is told",
      // libcurl's own laxity, which cannot be seen from above.
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
