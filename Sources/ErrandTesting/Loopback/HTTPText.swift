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
