/// Parses the request line and the header fields (RFC 9112 sections 3 and 5). The parser accepts only correct requests,
/// so that it reveals mistakes of a client.
enum RequestHead {
  /// The way in which the end of a request's body is found (RFC 9112 section 6.3).
  enum Framing: Equatable {
    case length(Int)
    case chunked
  }

  /// Parses the request line and the fields from bytes that end with the blank line.
  ///
  /// - Throws: ``ConnectionEnd/malformed(_:)``.
  static func parse(_ head: [UInt8]) throws -> RecordedRequest {
    var lines = try lines(of: head)
    guard !lines.isEmpty else { throw ConnectionEnd.malformed("the request line is invalid") }
    let line = lines.removeFirst().split(separator: 0x20, omittingEmptySubsequences: false)
    guard line.count == 3, isToken(line[0]), !line[1].isEmpty else {
      throw ConnectionEnd.malformed("the request line is invalid")
    }
    let version = String(decoding: line[2], as: UTF8.self)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      throw ConnectionEnd.malformed("the version is not HTTP/1.1 or HTTP/1.0")
    }
    return RecordedRequest(
      method: String(decoding: line[0], as: UTF8.self), target: String(decoding: line[1], as: UTF8.self),
      version: version, headers: try fields(lines), head: head)
  }

  /// Parses the field lines of a header or trailer section.
  static func fields(_ lines: [ArraySlice<UInt8>]) throws -> LoopbackHeaders {
    LoopbackHeaders(
      try lines.map { line in
        guard let colon = line.firstIndex(of: 0x3A), isToken(line[..<colon]) else {
          throw ConnectionEnd.malformed("a header field does not have the form 'name: value'")
        }
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self).trimmed
        return LoopbackHeaders.Field(String(decoding: line[..<colon], as: UTF8.self), value)
      })
  }

  /// The framing of the body according to the header fields. A request without framing fields has no body.
  static func framing(_ headers: LoopbackHeaders) throws -> Framing {
    let codings = headers.values("Transfer-Encoding")
    let lengths = headers.values("Content-Length")
    if !codings.isEmpty {
      guard codings.count == 1, codings[0].lowercased() == "chunked" else {
        throw ConnectionEnd.malformed("Transfer-Encoding is not chunked")
      }
      guard lengths.isEmpty else {
        throw ConnectionEnd.malformed("the request has both Content-Length and Transfer-Encoding")
      }
      return .chunked
    }
    guard let first = lengths.first else { return .length(0) }
    guard lengths.count == 1, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(first) else {
      throw ConnectionEnd.malformed("Content-Length is not a single number")
    }
    return .length(length)
  }

  /// The size of a chunk in bytes, parsed from the line that precedes the chunk's data. Chunk extensions are ignored.
  static func chunkSize(_ line: ArraySlice<UInt8>) throws -> Int {
    let digits = String(decoding: line.prefix { $0 != 0x3B }, as: UTF8.self).trimmed
    guard (1...15).contains(digits.utf8.count), digits.utf8.allSatisfy(isHexDigit), let size = Int(digits, radix: 16)
    else { throw ConnectionEnd.malformed("a chunk size is not a hexadecimal number of up to 15 digits") }
    return size
  }

  /// Whether the byte is valid in a method or a field name (RFC 9110 section 5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    tokenBytes.contains(byte)
  }

  /// The lines of a header section before its blank line, without CRLF. Each line must end with CRLF. A CR or LF alone,
  /// or a NUL, is an error.
  private static func lines(of head: [UInt8]) throws -> [ArraySlice<UInt8>] {
    try head.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().compactMap { line in
      guard line.last == 0x0D else { throw ConnectionEnd.malformed("a line does not end with CRLF") }
      let text = line.dropLast()
      guard !text.contains(0x0D), !text.contains(0) else {
        throw ConnectionEnd.malformed("a header line contains a CR or NUL")
      }
      return text.isEmpty ? nil : text
    }
  }

  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  private static let tokenBytes = Set(
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}
