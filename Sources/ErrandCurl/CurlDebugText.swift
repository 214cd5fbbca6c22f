#if os(Linux)
  import Glibc

  /// A debug message of libcurl about HTTP/2. libcurl reports the numbers of streams only in these messages.
  ///
  /// Each exchange causes many messages, so they are compared byte by byte without a conversion to text.
  enum CurlDebugText: Equatable {
    /// The number of the stream on which libcurl sends the request.
    case stream(UInt32)
    /// The server shuts down the connection, and processes no stream with a higher number (RFC 9113 section 6.8).
    case lastStream(UInt32)
    /// libcurl stops using the connection. Later messages may be about other connections.
    case leaving

    /// Parses a debug message. Returns nil for messages that no case of this type represents.
    init?(_ line: UnsafeRawBufferPointer) {
      switch line.first {
      case UInt8(ascii: "U"):
        guard let number = Self.rest(of: line, behind: "Using Stream ID: ").flatMap(Self.number) else { return nil }
        self = .stream(number)
      case UInt8(ascii: "r"):
        // libcurl 7.88 writes "recveived". Later versions write "received".
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

    /// The text after `prefix`; nil if the line does not begin with `prefix`.
    private static func rest(
      of line: UnsafeRawBufferPointer, behind prefix: StaticString
    ) -> UnsafeRawBufferPointer? {
      let count = prefix.utf8CodeUnitCount
      guard line.count >= count, let start = line.baseAddress, memcmp(start, prefix.utf8Start, count) == 0 else {
        return nil
      }
      return UnsafeRawBufferPointer(rebasing: line[count...])
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> UInt32? {
      UInt32(String(decoding: text.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
  }
#endif
