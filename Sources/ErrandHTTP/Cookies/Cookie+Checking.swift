extension Cookie {
  /// Whether a name promises that the cookie is of one host alone and was set over TLS. Servers may look at names
  /// without regard to case, so this does.
  static func isForHost(_ name: String) -> Bool { hasPrefix("__host-", name) }

  /// Whether a name promises that the cookie was set over TLS.
  static func isForTLS(_ name: String) -> Bool { hasPrefix("__secure-", name) }

  private static func hasPrefix(_ prefix: StaticString, _ name: String) -> Bool {
    prefix.withUTF8Buffer { ASCII.equalFolded(name.utf8.prefix($0.count), $0) }
  }

  /// Finds what would make the cookie unsafe to send.
  func check() throws(Invalid) {
    try checkPair()
    guard let host = try? HTTPURL("http://\(domain)").origin, host.host == domain, host.port == 80 else {
      throw Invalid(
        description: "The cookie's host \"\(Redaction.visible(domain))\" is none; write it like example.com.")
    }
    guard path.utf8.first == 0x2F, ASCII.all(path, { ASCII.isFieldValue($0) }) else {
      throw Invalid(description: "The cookie's path must begin with a slash and hold no control character.")
    }
    if Self.isForTLS(name), !isSecure {
      throw Invalid(description: "A cookie whose name begins with __Secure- must be secure.")
    }
    if Self.isForHost(name), !isSecure || !isHostOnly || path != "/" {
      throw Invalid(
        description:
          "A cookie whose name begins with __Host- must be secure, for one host alone, and of the path \"/\".")
    }
  }

  private func checkPair() throws(Invalid) {
    guard !name.isEmpty, Self.isTrimmed(name), ASCII.all(name, { Self.isOctet($0) && $0 != 0x3D }) else {
      throw Invalid(
        description:
          "A cookie's name is not empty and holds no control character, \"=\" or \";\" and no space around it.")
    }
    guard Self.isTrimmed(value), ASCII.all(value, { Self.isOctet($0) }) else {
      throw Invalid(
        description: "The value of the cookie \(Redaction.visible(name)) holds a control character, \";\" or a space "
          + "around it; write it in base64 or percent-encoded.")
    }
    guard name.utf8.count + value.utf8.count <= Self.longest else {
      throw Invalid(description: "Name and value of the cookie are longer than \(Self.longest) bytes.")
    }
  }

  private static func isOctet(_ byte: UInt8) -> Bool { ASCII.isFieldValue(byte) && byte != 0x3B }

  private static func isTrimmed(_ text: String) -> Bool {
    let isSpace: (UInt8?) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    return !isSpace(text.utf8.first) && !isSpace(text.utf8.last)
  }
}
