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
