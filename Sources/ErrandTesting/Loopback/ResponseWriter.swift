/// Sends one response of a ``LoopbackServer`` by executing the response's steps on a socket.
///
/// Bytes are collected in a buffer. The buffer is sent before every wait and at the end of the response, so that a
/// short response is one packet.
struct ResponseWriter {
  private let socket: LoopbackSocket
  private let answer: LoopbackAnswer
  private let isHead: Bool
  private var buffer: [UInt8] = []
  /// The number of content bytes in the buffer. They are the last bytes of the buffer, after the header section.
  private var bufferedBody = 0
  private var counted = 0
  private var hasAppliedFault = false
  private var hasSentPiece = false
  /// Whether the server has closed the sending side of the connection. If true, all further bytes of the response are
  /// dropped.
  private(set) var isHalfClosed = false

  /// - Parameter isHead: True for the response to a HEAD request, which is sent without content.
  init(_ answer: LoopbackAnswer, to socket: LoopbackSocket, isHead: Bool) {
    self.answer = answer
    self.socket = socket
    self.isHead = isHead
  }

  /// Executes all steps of the response. Throws a ``ConnectionEnd`` if the connection must end.
  mutating func run() throws {
    for step in answer.steps { try perform(step) }
    if let fault = answer.fault, !hasAppliedFault { try applyFault(fault) }
    try flush()
  }

  private mutating func perform(_ step: LoopbackAnswer.Step) throws {
    switch step {
    case .head(let status, let reason, let headers):
      try put(HTTPText.head(status: status, reason: reason, headers: headers), .everything)
    case .bytes(let bytes, let times): try put(bytes, .everything, times: times)
    case .body(let bytes, let times): if !isHead { try put(bytes, .body, times: times) }
    default:
      try flush()
      try performOnWire(step)
      if case .halfClose = step { isHalfClosed = true }
    }
  }

  private func performOnWire(_ step: LoopbackAnswer.Step) throws {
    switch step {
    case .head, .bytes, .body: break
    case .wait(let gate): try socket.pass(gate)
    case .reach(let gate): gate.arrive()
    case .pause(let duration): try socket.pause(duration)
    case .halfClose: socket.halfClose()
    case .close: throw ConnectionEnd.close
    case .reset: throw ConnectionEnd.reset
    }
  }

  private mutating func put(_ bytes: [UInt8], _ part: LoopbackAnswer.Part, times: Int?) throws {
    guard !bytes.isEmpty else { return }
    var left = times ?? .max
    while left > 0, !isHalfClosed {
      try put(bytes, part)
      if times != nil { left -= 1 }
    }
  }

  /// Writes bytes. If a simulated fault is inside these bytes, writes the bytes before the fault, executes the fault,
  /// and writes the remaining bytes. The remaining bytes are dropped if the fault has closed the sending side.
  private mutating func put(_ bytes: [UInt8], _ part: LoopbackAnswer.Part) throws {
    var rest = bytes[...]
    if let fault = answer.fault, !hasAppliedFault, part == .body || fault.part == .everything {
      let left = fault.after - counted
      counted += min(left, rest.count)
      if rest.count >= left {
        try emit(rest.prefix(left), part)
        rest = rest.dropFirst(left)
        try applyFault(fault)
      }
    }
    try emit(rest, part)
  }

  private mutating func applyFault(_ fault: LoopbackAnswer.Fault) throws {
    hasAppliedFault = true
    try perform(fault.step)
  }

  private mutating func emit(_ bytes: ArraySlice<UInt8>, _ part: LoopbackAnswer.Part) throws {
    if isHalfClosed { return }
    if let pace = answer.pace, part == .body || pace.part == .everything {
      try sendInPieces(bytes, part, pace)
    } else {
      buffer += bytes
      if part == .body { bufferedBody += bytes.count }
      if buffer.count >= 64 << 10 { try flush() }
    }
  }

  private mutating func sendInPieces(
    _ bytes: ArraySlice<UInt8>, _ part: LoopbackAnswer.Part, _ pace: LoopbackAnswer.Pace
  ) throws {
    try flush()
    var rest = bytes
    while !rest.isEmpty {
      if hasSentPiece { try performOnWire(pace.between) }
      hasSentPiece = true
      try send(rest.prefix(pace.size), body: part == .body ? rest.prefix(pace.size).count : 0)
      rest = rest.dropFirst(pace.size)
    }
  }

  private mutating func flush() throws {
    guard !buffer.isEmpty else { return }
    try send(buffer[...], body: bufferedBody)
    buffer.removeAll(keepingCapacity: true)
    bufferedBody = 0
  }

  /// Sends bytes. Only the last `body` bytes are content. Passes the number of sent content bytes to the response's
  /// closure `tally`, even if the client closes the connection before all bytes are sent.
  private func send(_ bytes: ArraySlice<UInt8>, body: Int) throws {
    let before = socket.sentCount
    defer {
      let sent = max(0, socket.sentCount - before - (bytes.count - body))
      if sent > 0 { answer.tally?(sent) }
    }
    try socket.send(bytes)
  }
}

/// Serialises HTTP/1.1 messages (RFC 9112) without validation.
enum HTTPText {
  /// The bytes of a response's status line, header fields and blank line. If `reason` is nil, the status line has the
  /// standard reason phrase of the status.
  static func head(status: Int, reason: String?, headers: LoopbackHeaders) -> [UInt8] {
    let line = "HTTP/1.1 \(status) \(reason ?? reasons[status] ?? "Status")\r\n"
    return Array(line.utf8) + fields(headers) + lineEnd
  }

  /// One chunk of a chunked body (RFC 9112 section 7.1).
  static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + lineEnd
  }

  /// The empty chunk that marks the end of a chunked body, with the trailer section (RFC 9112 section 7.1).
  static func lastChunk(_ trailers: LoopbackHeaders) -> [UInt8] {
    Array("0\r\n".utf8) + fields(trailers) + lineEnd
  }

  /// Whether a response with this status to a request other than HEAD may have content (RFC 9110 section 6.4.1).
  static func mayHaveContent(_ status: Int) -> Bool {
    !(100..<200).contains(status) && status != 204 && status != 304
  }

  /// The first bytes of a generated body; see ``LoopbackAnswer/generatedByte(at:)``. The bytes of such a body repeat
  /// after 251 bytes, and the length of this block is a multiple of 251. So the server can send the block several times
  /// without a break in the pattern.
  static let generatedBlock = (0..<251 * 256).map { LoopbackAnswer.generatedByte(at: $0) }

  private static let lineEnd: [UInt8] = [0x0D, 0x0A]

  private static func fields(_ headers: LoopbackHeaders) -> [UInt8] {
    headers.fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
  }

  private static let reasons: [Int: String] = [
    100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
    409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency",
    425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
    507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
  ]
}
