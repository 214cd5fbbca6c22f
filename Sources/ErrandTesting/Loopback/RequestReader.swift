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
      if let first = buffer.first, !RequestHead.isTokenByte(first) {
        throw ConnectionEnd.malformed("the request line is invalid")
      }
      if let end = Self.endOfHead(buffer, from: searched) {
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

  /// Reads the body of a request and stores it in `request`.
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
      if let feed = buffer.firstIndex(of: 0x0A) {
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
