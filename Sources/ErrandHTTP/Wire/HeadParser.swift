/// Parses the status lines and header fields of a response, line by line, by the rules of RFC 9112. Enforces the limits
/// on their size and number.
///
/// Headers that violate the framing rules end the exchange, because the end of such a response is unknown. Fields on
/// several lines are joined into one line.
package struct HeadParser {
  /// The HTTP versions that are allowed in a status line.
  package enum Dialect: Sendable { case http1, http2, either }

  /// The result of parsing one line. If the line completes the headers of a response, ``head`` contains these headers.
  package enum Event {
    case nothing
    case informational
    case final(BodyFraming)
  }

  package let limits: ResponseLimits
  package let isHeadRequest: Bool
  package let dialect: Dialect
  /// True if the request has the method CONNECT. A successful response to it has no body, and its fields
  /// `Content-Length` and `Transfer-Encoding` are ignored (RFC 9110 section 9.3.6).
  package let isConnect: Bool

  /// True if the first line of any response, informational or final, has arrived.
  package private(set) var hasBegun = false
  /// True if the headers of the final response are complete.
  package private(set) var isFinal = false
  /// The number of header bytes of all informational and final responses so far.
  package private(set) var totalBytes: Int64 = 0
  /// The values of `Content-Encoding` in the last response headers, joined by commas.
  package private(set) var contentEncoding = ""

  /// True if `Connection` contains the option `close` in the last response headers.
  package private(set) var saysClose = false
  /// True if `Connection` contains the option `keep-alive` in the last response headers.
  package private(set) var saysKeepAlive = false

  /// The headers of the last response. They are complete after ``take(_:)`` returned `.informational` or `.final`.
  package private(set) var head = ResponseHead(status: 0)

  private var isInHead = false
  private var headBytes = 0
  private var informationals = 0
  private var length: Int64?
  private var transferEncodings = 0
  private var fields: FieldCollector

  package init(limits: ResponseLimits, isHeadRequest: Bool, dialect: Dialect, isConnect: Bool = false) {
    self.limits = limits
    self.isHeadRequest = isHeadRequest
    self.dialect = dialect
    self.isConnect = isConnect
    fields = FieldCollector(limit: limits.fieldCount)
  }

  /// Parses one received line, with its line break.
  package mutating func take(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Event {
    hasBegun = true
    totalBytes += Int64(line.count)
    headBytes += line.count
    guard headBytes <= limits.headBytes else {
      throw .tooLarge("the response headers are longer than \(limits.headBytes) bytes", raise: "headBytes")
    }
    let content = try HeadLine.content(line)
    if !isInHead { return try begin(content) }
    if content.isEmpty {
      try noteLastField()
      return try end()
    }
    if !ASCII.isBlank(content[0]) { try noteLastField() }
    try fields.append(content)
    return .nothing
  }

  private mutating func begin(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Event {
    let status = try StatusLine(line)
    switch dialect {
    case .http1 where status.version == .http2, .http2 where status.version != .http2:
      throw .malformed("the HTTP version in the status line is not the version of the connection")
    default: break
    }
    head = ResponseHead(status: status.code, reason: status.reason, version: status.version)
    isInHead = true
    length = nil
    transferEncodings = 0
    contentEncoding = ""
    saysClose = false
    saysKeepAlive = false
    fields.removeAll()
    return .nothing
  }

  /// Evaluates the last field if it describes the body or the connection. Call this method when all lines of the field
  /// have arrived.
  private mutating func noteLastField() throws(TransportFailure) {
    if opensTunnel { return }
    switch fields.lastName {
    case 10: return try noteConnection()
    case 14, 17, 16: break
    default: return
    }
    let isFolded = fields.isFolded
    var (length, coding, encoding) = (Int64?.none, false, String?.none)
    try fields.withLast { field throws(TransportFailure) in
      if field.isNamed("content-length") { length = try Self.length(field.value) }
      if field.isNamed("transfer-encoding") {
        try Self.checkTransferEncoding(field)
        coding = true
      }
      if field.isNamed("content-encoding") { encoding = String(decoding: field.value, as: UTF8.self) }
    }
    // If Content-Length or Transfer-Encoding continues on a second line, the response is an error. Other parsers, such
    // as libcurl, read only the first line of the field and would find another end of the body.
    if isFolded, length != nil || coding {
      throw .malformed("Content-Length or Transfer-Encoding continues on a second line")
    }
    if let length { try note(length) }
    if coding { try noteTransferEncoding() }
    if let encoding { contentEncoding += (contentEncoding.isEmpty ? "" : ",") + encoding }
  }

  /// Reads the options `close` and `keep-alive` of `Connection` (RFC 9110 section 7.6.1). Other options are ignored.
  private mutating func noteConnection() throws(TransportFailure) {
    var (closes, keeps) = (false, false)
    try fields.withLast { field throws(TransportFailure) in
      guard field.isNamed("connection") else { return }
      for part in field.value.split(separator: 0x2C) {
        let option = HeadLine.trimmed(UnsafeRawBufferPointer(rebasing: part))
        closes = closes || HeadLine.equalFolded(option, "close")
        keeps = keeps || HeadLine.equalFolded(option, "keep-alive")
      }
    }
    saysClose = saysClose || closes
    saysKeepAlive = saysKeepAlive || keeps
  }

  private static func length(_ value: UnsafeRawBufferPointer) throws(TransportFailure) -> Int64 {
    guard let number = HeadLine.number(value) else {
      throw .malformed("Content-Length is not a decimal number")
    }
    return number
  }

  private static func checkTransferEncoding(_ field: FieldCollector.Field) throws(TransportFailure) {
    guard HeadLine.equalFolded(field.value, "chunked") else {
      throw .malformed("Transfer-Encoding has another value than \"chunked\"")
    }
  }

  private mutating func note(_ number: Int64) throws(TransportFailure) {
    guard length == nil || length == number else {
      throw .malformed("the response has two different values of Content-Length")
    }
    length = number
  }

  private mutating func noteTransferEncoding() throws(TransportFailure) {
    transferEncodings += 1
    guard transferEncodings == 1 else {
      throw .malformed("Transfer-Encoding has another value than \"chunked\"")
    }
    guard head.version == .http1_1 else {
      throw .malformed("Transfer-Encoding is only allowed in HTTP/1.1")
    }
  }

  private mutating func end() throws(TransportFailure) -> Event {
    isInHead = false
    head.fields = fields.take()
    noteForbiddenBody()
    if head.status == 101 {
      throw .malformed("the server sent status 101, but the request did not ask for another protocol")
    }
    if head.status < 200 {
      informationals += 1
      guard informationals <= limits.informationalCount else {
        throw .tooLarge(
          "more than \(limits.informationalCount) informational responses arrived", raise: "informationalCount")
      }
      headBytes = 0
      return .informational
    }
    isFinal = true
    return .final(try framing())
  }

  /// True if the headers belong to a successful response to CONNECT.
  private var opensTunnel: Bool { isConnect && (200..<300).contains(head.status) }

  private func framing() throws(TransportFailure) -> BodyFraming {
    if opensTunnel { return .none }
    if transferEncodings > 0, length != nil {
      throw .malformed("the response has both Content-Length and Transfer-Encoding")
    }
    if isHeadRequest || head.status == 204 || head.status == 304 { return .none }
    if transferEncodings > 0 { return .chunked }
    if let length { return length == 0 ? .none : .length(length) }
    return .untilClose
  }

  /// True if a response with status 204 or an informational response announced a body, which is forbidden (RFC 9110
  /// section 8.6). The connection must not be used after such a response. Responses to HEAD and responses with status
  /// 304 may state the length of a body that is not sent.
  package private(set) var announcedForbiddenBody = false

  private mutating func noteForbiddenBody() {
    guard head.status == 204 || head.status < 200 else { return }
    if transferEncodings > 0 || (length ?? 0) > 0 { announcedForbiddenBody = true }
  }
}

/// How the receiver finds the end of a body (RFC 9112 section 6.3).
package enum BodyFraming: Sendable, Hashable {
  /// The response has no body, even if the headers announce one.
  case none
  /// The body has this number of bytes.
  case length(Int64)
  /// The body is chunked and ends with the last chunk.
  case chunked
  /// The body ends with the connection, or with the HTTP/2 stream.
  case untilClose

  /// The length of the body according to the headers. Nil if the headers do not state a length.
  package var announcedLength: Int64? {
    switch self {
    case .none: 0
    case .length(let length): length
    case .chunked, .untilClose: nil
    }
  }
}
