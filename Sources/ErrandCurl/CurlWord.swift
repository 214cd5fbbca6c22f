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
      if let stream = Self.number(in: line, behind: "Using Stream ID: ") {
        self = .stream(stream)
      } else if line.contains("GOAWAY, error="), let last = Self.number(in: line, behind: "last_stream=") {
        self = .lastStream(last)
      } else if line.hasPrefix("Connection died, retrying a fresh connect") || line.hasPrefix("REFUSED_STREAM, ") {
        self = .leaving
      } else {
        return nil
      }
    }

    private static let firstBytes: Set<UInt8> = [
      UInt8(ascii: "U"), UInt8(ascii: "r"), UInt8(ascii: "C"), UInt8(ascii: "R"),
    ]

    private static func number(in line: String, behind words: String) -> UInt32? {
      guard let start = line.firstRange(of: words)?.upperBound else { return nil }
      return UInt32(line[start...].prefix { $0.isASCII && $0.isNumber })
    }
  }
#endif
