/// Rejects requests that must never be sent: requests with bytes that would end a line or a token too early, and
/// requests with a field that only the transport may set.
package enum WireRules {
  /// Throws if the method, the body or a field is invalid. The URL needs no check, because ``HTTPURL`` is always valid.
  package static func check(_ request: HTTPRequest) throws(WireFault) {
    if isValid(request) { return }
    guard ASCII.isToken(request.method.rawValue) else {
      let shown = Redaction.visible(request.method.rawValue)
      throw WireFault(.method, "The method \"\(shown)\" is not a token; use a word such as GET, without spaces.")
    }
    if request.method == "CONNECT" {
      throw WireFault(
        .method, "The method CONNECT opens a tunnel, and only the transport may open one; use another method.")
    }
    if request.body != nil, request.method == .head || request.method == "TRACE" {
      throw WireFault(.body, "A \(request.method) request carries no body; remove the body or use another method.")
    }
    if let length = request.body?.length, length < 0 {
      throw WireFault(.body, "The body has the length \(length); give its number of bytes, or nil if it is unknown.")
    }
    for field in request.fields.all { try check(field) }
  }

  /// Whether the method, the body and the fields are valid. This check must be fast, because it runs for nearly every
  /// request.
  package static func isValid(_ request: HTTPRequest) -> Bool {
    let method = request.method
    return ASCII.isToken(method.rawValue) && method != "CONNECT"
      && (request.body.map { isValid($0, method) } ?? true) && request.fields.all.allSatisfy { isValid($0) }
  }

  private static func isValid(_ body: HTTPBody, _ method: HTTPMethod) -> Bool {
    method != .head && method != "TRACE" && (body.length ?? 0) >= 0
  }

  private static func isValid(_ field: HTTPField) -> Bool {
    let value = field.value.utf8
    return ASCII.isToken(field.name.rawValue) && !isFraming(field.name)
      && (value.withContiguousStorageIfAvailable { isFieldValue($0) } ?? isFieldValue(value))
  }

  private static func isFieldValue(_ value: some BidirectionalCollection<UInt8>) -> Bool {
    !ASCII.isBlank(value.first) && !ASCII.isBlank(value.last) && value.allSatisfy { ASCII.isFieldValue($0) }
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
    guard !ASCII.isBlank(field.value.utf8.first), !ASCII.isBlank(field.value.utf8.last) else {
      throw WireFault(.header, "The value of the field \(name) begins or ends with a space; remove the space.")
    }
    guard !isFraming(field.name) else {
      throw WireFault(
        .header,
        "The field \(name) describes how the message is sent, and only the transport may set it; remove the field.")
    }
  }

  /// Whether a field describes how the message is sent: its length, its transfer coding or the connection. Only the
  /// transport may set such a field.
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

/// The error for a request that must not be sent. It names the invalid part of the request.
package struct WireFault: Error, Sendable {
  package enum Part: Sendable { case method, body, header }

  package let part: Part
  /// An English sentence that names the invalid value and says how to correct it.
  package let message: String

  init(_ part: Part, _ message: String) {
    self.part = part
    self.message = message
  }
}

/// Checks a request before a transport writes it: the rules of ``WireRules``, the length of the host and the bytes of
/// the URL. The pipeline also checks its requests, but a caller may use a transport without the pipeline.
package enum RequestCheck {
  /// The maximum length of a host in bytes; no DNS name is longer. libcurl up to 8.3.0 copies a longer name into a
  /// buffer for SOCKS5 without checking its length (CVE-2023-38545).
  private static let longestHost = 255

  package static func check(_ request: HTTPRequest) throws(TransportFailure) {
    guard request.url.host.utf8.count <= longestHost else {
      throw refused("the host of the URL has more than \(longestHost) bytes")
    }
    guard ASCII.all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) else {
      throw refused("the URL contains a space, a control character or a byte that is not ASCII")
    }
    do throws(WireFault) {
      try WireRules.check(request)
    } catch {
      throw TransportFailure(.unsupported, error.message, isCertainlyNotSent: true)
    }
  }

  /// The failure of a request that cannot be sent. `text` completes "The request cannot be sent: ….".
  package static func refused(_ text: String) -> TransportFailure {
    TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
  }
}
