#if os(Linux)
  /// What libcurl says of HTTP/2 among the lines that it has for people: it names streams nowhere else.
  enum CurlWord: Equatable {
    /// The stream that the request is written to.
    case stream(UInt32)
    /// The server retires the connection, and answers no stream behind this one (RFC 9113 section 6.8).
    case lastStream(UInt32)
    /// libcurl leaves the connection, and what it says next may be about others.
    case leaving

    /// Nil for all other lines.
    init?(_ line: UnsafeRawBufferPointer) {
      // Most lines are told from these by one byte.
      guard let first = line.first, Self.firstBytes.contains(first) else { return nil }
      let line = String(decoding: line, as: UTF8.self)
      if line.hasPrefix("Using Stream ID: "), let stream = Self.number(in: line, behind: ": ") {
        self = .stream(stream)
      } else if Self.retirements.contains(where: line.hasPrefix),
        let last = Self.number(in: line, behind: "last_stream=")
      {
        self = .lastStream(last)
      } else if Self.departures.contains(where: line.hasPrefix) {
        self = .leaving
      } else {
        return nil
      }
    }

    /// The former is how libcurl 7.88 spells it.
    private static let retirements = ["recveived GOAWAY, error=", "received GOAWAY, error="]
    private static let departures = [
      "Connection died, retrying a fresh connect", "REFUSED_STREAM, ", "Downgrades to HTTP/1.1",
    ]
    private static let firstBytes = Set("UrCRD".utf8)

    private static func number(in line: String, behind words: String) -> UInt32? {
      guard let start = line.firstRange(of: words)?.upperBound else { return nil }
      return UInt32(line[start...].prefix { $0.isASCII && $0.isNumber })
    }
  }
#endif
