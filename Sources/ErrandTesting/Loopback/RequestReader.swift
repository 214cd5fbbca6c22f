import ErrandCore

/// Reads requests from a socket, one after another.
struct RequestReader {
  private let socket: LoopbackSocket
  private let headLimit: Int
  private let bodyLimit: Int
  private var buffer: [UInt8] = []

  init(_ socket: LoopbackSocket, options: LoopbackOptions) {
    self.socket = socket
    headLimit = options.headLimit
    bodyLimit = options.recordedBodyLimit
  }

  /// The next request, without its body; nil if the client closed the connection before the header section was
  /// complete.
  mutating func nextHead() throws -> RecordedRequest? {
    var searched = 0
    while true {
      // Reject input whose first byte cannot begin a request, such as a TLS handshake. Such input may never contain a
      // blank line, so a wait for the blank line would not end.
      if let first = buffer.first, !ASCII.isToken(first) {
        throw ConnectionEnd.malformed("the request line is invalid")
      }
      if let end = Self.endOfHead(buffer, from: searched), end <= headLimit {
        let head = Array(buffer[..<end])
        buffer.removeSubrange(..<end)
        return try RequestHead.parse(head)
      }
      guard buffer.count <= headLimit else {
        throw ConnectionEnd.malformed("the headers are longer than \(headLimit) bytes")
      }
      searched = max(0, buffer.count - 3)
      guard try socket.receive(into: &buffer) else {
        return nil
      }
    }
  }

  mutating func readBody(into request: inout RecordedRequest) throws {
    switch try RequestHead.framing(request.headers) {
    case .length(let length): try take(length, into: &request)
    case .chunked: try readChunks(into: &request)
    }
    request.isComplete = true
  }

  private mutating func readChunks(into request: inout RecordedRequest) throws {
    while true {
      let size = try RequestHead.chunkSize(try line()[...])
      guard size > 0 else { break }
      try take(size, into: &request)
      guard try line().isEmpty else {
        throw ConnectionEnd.malformed("the data of a chunk is longer than the stated chunk size")
      }
    }
    var trailers: [ArraySlice<UInt8>] = []
    while case let next = try line(), !next.isEmpty {
      guard trailers.count < 1000 else {
        throw ConnectionEnd.malformed("the request has more than 1000 trailer fields")
      }
      trailers.append(next[...])
    }
    request.trailers = try RequestHead.fields(trailers)
  }

  /// Moves `count` bytes from the socket to the request. Bytes beyond ``LoopbackOptions/recordedBodyLimit`` are counted
  /// and dropped.
  private mutating func take(_ count: Int, into request: inout RecordedRequest) throws {
    var left = count
    while left > 0 {
      if buffer.isEmpty { try receive() }
      let piece = buffer.prefix(left)
      request.body += piece.prefix(max(0, bodyLimit - request.body.count))
      request.bodyLength += piece.count
      left -= piece.count
      buffer.removeSubrange(..<piece.count)
    }
  }

  /// Reads the bytes up to and including the next CRLF, and returns them without CRLF.
  private mutating func line() throws -> [UInt8] {
    while true {
      if let feed = buffer.firstIndex(of: 0x0A), feed <= headLimit {
        guard feed > 0, buffer[feed - 1] == 0x0D else { throw ConnectionEnd.malformed("a line does not end with CRLF") }
        let line = Array(buffer[..<(feed - 1)])
        buffer.removeSubrange(...feed)
        return line
      }
      guard buffer.count <= headLimit else { throw ConnectionEnd.malformed("a line is longer than \(headLimit) bytes") }
      try receive()
    }
  }

  private mutating func receive() throws {
    guard try socket.receive(into: &buffer) else { throw ConnectionEnd.peerLeft }
  }

  /// The index after the blank line that ends the header section; nil if there is no blank line yet.
  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 3 < bytes.count {
      if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
        return index + 4
      }
      index += 1
    }
    return nil
  }
}

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
    guard lengths.count == 1, first.utf8.allSatisfy(ASCII.isDigit), let length = Int(first) else {
      throw ConnectionEnd.malformed("Content-Length is not a single number")
    }
    return .length(length)
  }

  /// The size of a chunk in bytes, parsed from the line that precedes the chunk's data. Chunk extensions are ignored.
  static func chunkSize(_ line: ArraySlice<UInt8>) throws -> Int {
    let digits = String(decoding: line.prefix { $0 != 0x3B }, as: UTF8.self).trimmed
    guard (1...15).contains(digits.utf8.count), digits.utf8.allSatisfy({ ASCII.hexValue($0) != nil }),
      let size = Int(digits, radix: 16)
    else { throw ConnectionEnd.malformed("a chunk size is not a hexadecimal number of up to 15 digits") }
    return size
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
    !bytes.isEmpty && bytes.allSatisfy(ASCII.isToken)
  }
}
