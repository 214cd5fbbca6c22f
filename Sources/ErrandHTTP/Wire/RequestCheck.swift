/// Checks a request before a transport writes it. No byte may end a line or a token too early, and no field may change
/// the framing of the message.
package enum RequestCheck {
  /// The maximum length of a host in bytes; no DNS name is longer. libcurl up to 8.3.0 copies a longer name into a
  /// buffer for SOCKS5 without checking its length (CVE-2023-38545).
  private static let longestHost = 255

  package static func check(_ request: HTTPRequest) throws(TransportFailure) {
    guard request.url.host.utf8.count <= longestHost else {
      throw refused("its host has more than \(longestHost) bytes")
    }
    if WireRules.isSound(request), all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) { return }
    guard isToken(request.method.rawValue) else { throw refused("its method is not a token") }
    guard all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) else {
      throw refused("its URL contains a space, a control character or a byte that is not ASCII")
    }
    if request.method == .head, let body = request.body, body.length != 0 {
      throw refused("a HEAD request must not have a body")
    }
    for field in request.fields.all { try check(field) }
  }

  private static func check(_ field: HTTPField) throws(TransportFailure) {
    guard isToken(field.name.rawValue) else { throw refused("the name of a field is not a token") }
    guard all(field.value, { $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else {
      throw refused("the value of \(field.name) contains a line break or NUL")
    }
    if WireRules.isFraming(field.name) { throw refused("the transport sets \(field.name) itself") }
  }

  private static func isToken(_ text: String) -> Bool { !text.isEmpty && all(text) { HeadLine.isToken($0) } }

  /// True if every byte of a text satisfies a rule. The loop checks all bytes without branches. This is faster because
  /// nearly all texts satisfy the rule.
  @inline(__always)
  private static func all(_ text: String, _ rule: (UInt8) -> Bool) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      var keeps = true
      for byte in bytes { keeps = keeps && rule(byte) }
      return keeps
    } ?? text.utf8.allSatisfy(rule)
  }

  /// The failure of a request that cannot be sent. `text` completes "The request cannot be sent: ….".
  package static func refused(_ text: String) -> TransportFailure {
    TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
  }
}
