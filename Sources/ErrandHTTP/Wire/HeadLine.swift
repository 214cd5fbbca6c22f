import Foundation

/// Functions that check and parse lines of response headers as bytes.
package enum HeadLine {
  /// Returns the line without its CR LF. Throws if the line does not end with CR LF, or if CR, LF or NUL occurs within
  /// the line.
  package static func content(_ line: UnsafeRawBufferPointer) throws(TransportFailure) -> UnsafeRawBufferPointer {
    let count = line.count
    guard count >= 2, line[count - 2] == 0x0D, line[count - 1] == 0x0A else {
      throw .malformed("a line of the response headers does not end with CR LF")
    }
    let content = UnsafeRawBufferPointer(rebasing: line[..<(count - 2)])
    if let base = content.baseAddress, holds(0x0D, base, content.count) || holds(0, base, content.count) {
      throw .malformed("a line of the response headers contains a control character")
    }
    if let base = content.baseAddress, holds(0x0A, base, content.count) {
      throw .malformed("a line of the response headers contains a line feed")
    }
    return content
  }

  /// The length of the first line in bytes, with its line feed. Nil if the line feed has not arrived yet.
  package static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress, let feed = memchr(base, 0x0A, bytes.count) else { return nil }
    return UnsafeRawPointer(feed) - base + 1
  }

  private static func holds(_ byte: Int32, _ base: UnsafeRawPointer, _ count: Int) -> Bool {
    memchr(base, byte, count) != nil
  }

  /// Parses decimal digits. Nil if `digits` is empty or contains another byte, or if the number is too large for
  /// `Int64`.
  package static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
    guard !digits.isEmpty else { return nil }
    var number: Int64 = 0
    for byte in digits {
      guard ASCII.isDigit(byte) else { return nil }
      let (product, tooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, tooLargeYet) = product.addingReportingOverflow(Int64(byte &- 0x30))
      if tooLarge || tooLargeYet { return nil }
      number = sum
    }
    return number
  }

  /// Compares bytes with a lower-case ASCII text and ignores the case of ASCII letters in the bytes.
  @inline(__always)
  package static func equalFolded(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count where ASCII.lowercased(bytes[index]) != text.utf8Start[index] { return false }
    return true
  }

  /// Returns the bytes without the spaces and tabs at the beginning and at the end.
  package static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var start = 0
    var end = bytes.count
    while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
    while end > start, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }
}

extension TransportFailure {
  package static func malformed(_ text: String) -> TransportFailure {
    TransportFailure(.malformedResponse, "The response violates the rules of HTTP: \(text).")
  }

  package static func tooLarge(_ text: String) -> TransportFailure {
    TransportFailure(.tooLarge, "The response is larger than the limits allow: \(text).")
  }

  /// The failure of a response that exceeds one of its ``ResponseLimits``. `setting` is the name of the limit.
  package static func tooLarge(_ text: String, raise setting: String) -> TransportFailure {
    tooLarge("\(text); raise `limits.\(setting)` to allow more")
  }

  package static func undecodable(_ text: String) -> TransportFailure {
    TransportFailure(.undecodableContent, "The body cannot be decoded: \(text).")
  }
}

/// The status line of a response (RFC 9112 section 4). HTTP/2 has no status line; libcurl writes a line in its place.
package struct StatusLine {
  package let version: ResponseHead.Version
  package let code: Int
  package let reason: String

  package init(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
    let (version, start) = try Self.version(line)
    guard line.count >= start + 3, let code = Self.code(line, at: start) else {
      throw .malformed("the status code is not a number of three digits")
    }
    self.version = version
    self.code = code
    reason = try Self.reason(line, after: start + 3)
  }

  /// Returns the version and the index of the status code's first digit.
  private static func version(
    _ line: UnsafeRawBufferPointer
  ) throws(TransportFailure) -> (ResponseHead.Version, Int) {
    if starts(line, "HTTP/1.1 ") { return (.http1_1, 9) }
    if starts(line, "HTTP/1.0 ") { return (.http1_0, 9) }
    if starts(line, "HTTP/2 ") { return (.http2, 7) }
    throw .malformed("the response does not begin with a status line of HTTP/1.0, HTTP/1.1 or HTTP/2")
  }

  private static func starts(_ line: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard line.count >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where line[index] != text.utf8Start[index] { return false }
    return true
  }

  private static func code(_ line: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard let number = HeadLine.number(UnsafeRawBufferPointer(rebasing: line[start..<(start + 3)])) else {
      return nil
    }
    return number >= 100 ? Int(number) : nil
  }

  private static func reason(_ line: UnsafeRawBufferPointer, after end: Int) throws(TransportFailure) -> String {
    guard line.count > end else { return "" }
    guard line[end] == 0x20 else { throw .malformed("the status code is not a number of three digits") }
    if line.count - end == 3, line[end + 1] == 0x4F, line[end + 2] == 0x4B { return "OK" }
    return RawFieldBlock.text(UnsafeRawBufferPointer(rebasing: line[(end + 1)...]))
  }
}
