/// What may never reach the wire: bytes that end a line or a word, and fields that frame the message.
enum WireRules {
  /// Checks method and fields; a URL is right by its type.
  static func check(_ request: HTTPRequest) throws(APIError) {
    guard ASCII.isToken(request.method.rawValue) else {
      let shown = Redaction.visible(request.method.rawValue)
      throw .build(.invalidMethod, "The method \"\(shown)\" is no token; use letters such as GET, without spaces.")
    }
    for field in request.fields.all { try check(field) }
  }

  static func check(_ field: HTTPField) throws(APIError) {
    let name = field.name.rawValue
    guard ASCII.isToken(name) else {
      let shown = Redaction.visible(name)
      throw .build(.invalidHeader, "The field name \"\(shown)\" is no token; remove spaces, colons and line breaks.")
    }
    guard field.value.utf8.allSatisfy(ASCII.isFieldValue) else {
      throw .build(
        .invalidHeader, "The value of the field \(name) holds a control character such as a line break; remove it.")
    }
    guard !isSpace(field.value.utf8.first), !isSpace(field.value.utf8.last) else {
      throw .build(.invalidHeader, "The value of the field \(name) begins or ends with a space; trim it.")
    }
    guard !isFraming(field.name) else {
      throw .build(.invalidHeader, "The field \(name) frames the message and is set by the transport alone; remove it.")
    }
  }

  private static func isSpace(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func isFraming(_ name: HTTPFieldName) -> Bool {
    framing[name.rawValue.utf8.count]?.contains(name) ?? false
  }

  private static let framing = Dictionary(
    grouping: [
      "Content-Length", "Transfer-Encoding", "Host", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Upgrade", "Expect",
    ] as [HTTPFieldName], by: { $0.rawValue.utf8.count })
}
