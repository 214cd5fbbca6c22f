/// Reads the heads of an answer line by line by the rules of RFC 9112, and counts what they cost.
///
/// A head that breaks the rules of framing ends the exchange, since the end of such a response is unknown. Folded
/// fields are unfolded.
package struct HeadParser {
  /// Which versions the connection may speak.
  package enum Dialect: Sendable { case http1, http2, either }

  /// What a line completed; ``head`` holds it then.
  package enum Event {
    case nothing
    case informational
    case final(BodyFraming)
  }

  package let limits: ResponseLimits
  package let isHeadRequest: Bool
  package let dialect: Dialect

  /// Whether a line has come at all.
  package private(set) var hasBegun = false
  /// Whether the blank line of the final head has come.
  package private(set) var isFinal = false
  /// The bytes of all heads so far.
  package private(set) var totalBytes: Int64 = 0
  /// The values of `Content-Encoding`, joined by commas.
  package private(set) var contentEncoding = ""

  /// Whether `Connection` names the option `close` in the last head.
  package private(set) var saysClose = false
  /// Whether `Connection` names the option `keep-alive` in the last head.
  package private(set) var saysKeepAlive = false

  /// The last head, whole once an event says so.
  package private(set) var head = ResponseHead(status: 0)

  private var isInHead = false
  private var headBytes = 0
  private var informationals = 0
  private var length: Int64?
  private var transferEncodings = 0
  private var fields: FieldCollector

  package init(limits: ResponseLimits, isHeadRequest: Bool, dialect: Dialect) {
    self.limits = limits
    self.isHeadRequest = isHeadRequest
    self.dialect = dialect
    fields = FieldCollector(limit: limits.fieldCount)
  }

  /// Takes one line with its end, as it came.
  package mutating func take(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Event {
    hasBegun = true
    totalBytes += Int64(line.count)
    headBytes += line.count
    guard headBytes <= limits.headBytes else {
      throw .tooLarge("the response headers are longer than \(limits.headBytes) bytes")
    }
    let content = try HeadLine.content(line)
    if !isInHead { return try begin(content) }
    if content.isEmpty {
      try noteLastField()
      return try end()
    }
    if content[0] != 0x20, content[0] != 0x09 { try noteLastField() }
    try fields.append(content)
    return .nothing
  }

  private mutating func begin(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> Event {
    let status = try StatusLine(line)
    switch dialect {
    case .http1 where status.version == .http2, .http2 where status.version != .http2:
      throw .malformed("the status line names a version of HTTP that the connection does not speak")
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

  /// Reads what the last field says about the body, once all of its lines have come.
  private mutating func noteLastField() throws(TransportFailure) {
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
    // Others read the first line alone (libcurl does), and would look for the end of the body somewhere else.
    if isFolded, length != nil || coding { throw .malformed("a field that says where the body ends is folded") }
    if let length { try note(length) }
    if coding { try noteTransferEncoding() }
    if let encoding { contentEncoding += (contentEncoding.isEmpty ? "" : ",") + encoding }
  }

  /// Reads the options of `Connection` (RFC 9110 section 7.6.1). Others than these two mean nothing here.
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
      throw .malformed("Content-Length is not a number of bytes")
    }
    return number
  }

  private static func checkTransferEncoding(_ field: FieldCollector.Field) throws(TransportFailure) {
    guard HeadLine.equalFolded(field.value, "chunked") else {
      throw .malformed("the transfer coding is not chunked alone")
    }
  }

  private mutating func note(_ number: Int64) throws(TransportFailure) {
    guard length == nil || length == number else {
      throw .malformed("the answer names two different lengths")
    }
    length = number
  }

  private mutating func noteTransferEncoding() throws(TransportFailure) {
    transferEncodings += 1
    guard transferEncodings == 1 else {
      throw .malformed("the transfer coding is not chunked alone")
    }
    guard head.version == .http1_1 else {
      throw .malformed("only HTTP/1.1 has transfer codings")
    }
  }

  private mutating func end() throws(TransportFailure) -> Event {
    isInHead = false
    head.fields = fields.take()
    noteForbiddenBody()
    if head.status == 101 { throw .malformed("the server switched protocols without being asked") }
    if head.status < 200 {
      informationals += 1
      guard informationals <= limits.informationalCount else {
        throw .tooLarge("more than \(limits.informationalCount) informational answers came")
      }
      headBytes = 0
      return .informational
    }
    isFinal = true
    return .final(try framing())
  }

  private func framing() throws(TransportFailure) -> BodyFraming {
    if transferEncodings > 0, length != nil {
      throw .malformed("the answer has both Content-Length and Transfer-Encoding")
    }
    if isHeadRequest || head.status == 204 || head.status == 304 { return .none }
    if transferEncodings > 0 { return .chunked }
    if let length { return length == 0 ? .none : .length(length) }
    return .untilClose
  }

  /// Whether a head announced a body that it must not have (RFC 9110 section 8.6), so that the connection cannot be
  /// trusted any more. Answers to HEAD and 304 may name the length of a body that does not follow.
  package private(set) var announcedForbiddenBody = false

  private mutating func noteForbiddenBody() {
    guard head.status == 204 || head.status < 200 else { return }
    if transferEncodings > 0 || (length ?? 0) > 0 { announcedForbiddenBody = true }
  }
}

/// How the end of a body is found (RFC 9112 section 6.3).
package enum BodyFraming: Sendable, Hashable {
  /// There is no body, whatever the head says.
  case none
  /// So many bytes.
  case length(Int64)
  /// Chunks up to the last one.
  case chunked
  /// Up to the end of the connection, or of the HTTP/2 stream.
  case untilClose
}
