/// What may never reach the wire: bytes that end a line or a word, and fields that frame the message.
enum WireRules {
  /// Checks method and fields; a URL is right by its type.
  static func check(_ request: HTTPRequest) throws(APIError) {
    guard ASCII.isToken(request.method.rawValue) else {
      throw .build(
        .invalidMethod,
        "The method \"\(visible(request.method.rawValue))\" is no token; use letters such as GET, without spaces.")
    }
    for field in request.fields.all { try check(field) }
  }

  static func check(_ field: HTTPField) throws(APIError) {
    let name = field.name.rawValue
    guard ASCII.isToken(name) else {
      throw .build(
        .invalidHeader, "The field name \"\(visible(name))\" is no token; remove spaces, colons and line breaks.")
    }
    guard ASCII.all(field.value, { ASCII.isFieldValue($0) }) else {
      throw .build(
        .invalidHeader, "The value of the field \(name) holds a control character such as a line break; remove it.")
    }
    guard field.value.utf8.first != 0x20, field.value.utf8.last != 0x20 else {
      throw .build(.invalidHeader, "The value of the field \(name) begins or ends with a space; trim it.")
    }
    guard !isFraming(field.name) else {
      throw .build(.invalidHeader, "The field \(name) frames the message and is set by the transport alone; remove it.")
    }
  }

  private static func isFraming(_ name: HTTPFieldName) -> Bool {
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

  private static func visible(_ text: String) -> String {
    text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
      .joined()
  }
}
