#if os(Linux)
  import Glibc

  /// What libcurl says of HTTP/2 among the lines that it has for people: it names streams nowhere else.
  ///
  /// There are many of them for each exchange, so they are looked at byte by byte, and no text is made of them.
  enum CurlWord: Equatable {
    /// The stream that the request is written to.
    case stream(UInt32)
    /// The server retires the connection, and answers no stream behind this one (RFC 9113 section 6.8).
    case lastStream(UInt32)
    /// libcurl leaves the connection, and what it says next may be about others.
    case leaving

    /// Nil for all other lines.
    init?(_ line: UnsafeRawBufferPointer) {
      switch line.first {
      case UInt8(ascii: "U"):
        guard let number = Self.rest(of: line, behind: "Using Stream ID: ").flatMap(Self.number) else { return nil }
        self = .stream(number)
      case UInt8(ascii: "r"):
        // The former is how libcurl 7.88 spells it.
        let error =
          Self.rest(of: line, behind: "recveived GOAWAY, error=")
          ?? Self.rest(of: line, behind: "received GOAWAY, error=")
        guard let comma = error?.firstIndex(of: UInt8(ascii: ",")), let error,
          let number = Self.rest(of: UnsafeRawBufferPointer(rebasing: error[comma...]), behind: ", last_stream=")
            .flatMap(Self.number)
        else { return nil }
        self = .lastStream(number)
      case UInt8(ascii: "C"), UInt8(ascii: "R"), UInt8(ascii: "D"):
        guard Self.departures.contains(where: { Self.rest(of: line, behind: $0) != nil }) else { return nil }
        self = .leaving
      default: return nil
      }
    }

    private static let departures: [StaticString] = [
      "Connection died, retrying a fresh connect", "REFUSED_STREAM, ", "Downgrades to HTTP/1.1",
    ]

    /// What follows; nil where the line begins otherwise.
    private static func rest(
      of line: UnsafeRawBufferPointer, behind words: StaticString
    ) -> UnsafeRawBufferPointer? {
      let count = words.utf8CodeUnitCount
      guard line.count >= count, let start = line.baseAddress, memcmp(start, words.utf8Start, count) == 0 else {
        return nil
      }
      return UnsafeRawBufferPointer(rebasing: line[count...])
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> UInt32? {
      UInt32(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
  }
#endif
