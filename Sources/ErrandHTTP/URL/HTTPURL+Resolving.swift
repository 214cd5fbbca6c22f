// Byte by byte throughout: to Swift a slash with an accent on it is another character than a slash.
extension HTTPURL {
  /// The URL that a reference means when it stands in an answer from this URL, such as a `Location` field.
  ///
  /// User names and passwords in it are dropped. Source: RFC 3986 section 5.2.
  /// - Throws: ``Invalid`` where the reference leads to no `http` or `https` URL.
  public func resolving(_ reference: String) throws(Invalid) -> HTTPURL {
    let text = reference.utf8.prefix { $0 != 0x23 }
    let reference = String(decoding: text, as: UTF8.self)
    if let colon = text.firstIndex(of: 0x3A), Self.isScheme(text[..<colon]) {
      return try HTTPURL(Self.withoutUserInfo(reference))
    }
    if text.starts(with: "//".utf8) { return try HTTPURL(Self.withoutUserInfo("\(scheme):\(reference)")) }
    if reference.isEmpty { return self }
    if text.first == 0x3F { return try HTTPURL("\(prefix(to: queryStart))\(reference)") }
    let refPath = reference.utf8.prefix { $0 != 0x3F }
    let query = reference.utf8[refPath.endIndex...]
    let path = String(decoding: refPath, as: UTF8.self)
    let merged = refPath.first == 0x2F ? path : Self.directory(of: self.path) + path
    return try HTTPURL("\(prefix(to: pathStart))\(Self.removingDots(merged))\(String(decoding: query, as: UTF8.self))")
  }

  private func prefix(to end: Int) -> String { String(decoding: string.utf8.prefix(end), as: UTF8.self) }

  private static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
    return bytes.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "/" }
    return String(decoding: path.utf8[...slash], as: UTF8.self)
  }

  private static func withoutUserInfo(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A), bytes[(colon + 1)...].starts(with: "//".utf8) else { return url }
    let start = colon + 3
    let authority = bytes[start...].prefix { $0 != 0x2F && $0 != 0x3F }
    guard let at = authority.lastIndex(of: 0x40) else { return url }
    return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
  }

  /// RFC 3986 section 5.2.4.
  private static func removingDots(_ path: String) -> String {
    var kept: [String] = []
    let segments = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      if segment.elementsEqual(".".utf8) {
        if isLast { kept.append("") }
      } else if segment.elementsEqual("..".utf8) {
        _ = kept.popLast()
        if isLast { kept.append("") }
      } else {
        kept.append(String(decoding: segment, as: UTF8.self))
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
