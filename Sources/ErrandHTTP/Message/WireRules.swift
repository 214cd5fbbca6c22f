/// Rejects requests that must never be sent: those with bytes that end a line or a token, or with fields that frame the
/// message.
package enum WireRules {
  /// Throws if the method or a field is invalid. The type ``HTTPURL`` guarantees that the URL is valid.
  package static func check(_ request: HTTPRequest) throws(WireFault) {
    if isSound(request) { return }
    guard ASCII.isToken(request.method.rawValue) else {
      let shown = Redaction.visible(request.method.rawValue)
      throw WireFault(.method, "The method \"\(shown)\" is not a token; use letters such as GET, without spaces.")
    }
    if request.method == "CONNECT" {
      throw WireFault(
        .method, "The method CONNECT opens a tunnel, and only the transport may open one; use another method.")
    }
    if request.body != nil, request.method == .head || request.method == "TRACE" {
      throw WireFault(.body, "A \(request.method) request carries no body; remove it or use another method.")
    }
    for field in request.fields.all { try check(field) }
  }

  /// Whether the method and the fields are valid. A fast check, because it runs for nearly every request.
  package static func isSound(_ request: HTTPRequest) -> Bool {
    let method = request.method
    return ASCII.isToken(method.rawValue) && method != "CONNECT"
      && (request.body == nil || method != .head && method != "TRACE") && request.fields.all.allSatisfy(isSound)
  }

  private static func isSound(_ field: HTTPField) -> Bool {
    let value = field.value.utf8
    return ASCII.isToken(field.name.rawValue) && ASCII.all(field.value) { ASCII.isFieldValue($0) }
      && !isSpace(value.first) && !isSpace(value.last) && !isFraming(field.name)
  }

  package static func check(_ field: HTTPField) throws(WireFault) {
    let name = field.name.rawValue
    guard ASCII.isToken(name) else {
      let shown = Redaction.visible(name)
      throw WireFault(.header, "The field name \"\(shown)\" is not a token; remove spaces, colons and line breaks.")
    }
    guard ASCII.all(field.value, { ASCII.isFieldValue($0) }) else {
      throw WireFault(
        .header, "The value of the field \(name) holds a control character such as a line break; remove it.")
    }
    guard !isSpace(field.value.utf8.first), !isSpace(field.value.utf8.last) else {
      throw WireFault(.header, "The value of the field \(name) begins or ends with a space; trim it.")
    }
    guard !isFraming(field.name) else {
      throw WireFault(.header, "The field \(name) frames the message and only the transport may set it; remove it.")
    }
  }

  private static func isSpace(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Whether a field describes how the message is sent: its length, its coding or a single connection.
  package static func isFraming(_ name: HTTPFieldName) -> Bool {
    switch name.rawValue.utf8.count {
    case 2: name == "TE"
    case 4: name == "Host"
    case 6: name == "Expect"
    case 7: name == "Trailer" || name == "Upgrade"
    case 10: name == "Connection" || name == "Keep-Alive"
    case 14: name == .contentLength
    case 16: name == "Proxy-Connection"
    case 17: name == "Transfer-Encoding"
    default: false
    }
  }
}

/// An invalid element of a request, and why it must not be sent.
package struct WireFault: Error, Sendable {
  package enum Part: Sendable { case method, body, header }

  package let part: Part
  /// An English sentence that names the invalid value and the remedy.
  package let message: String

  init(_ part: Part, _ message: String) {
    self.part = part
    self.message = message
  }
}
