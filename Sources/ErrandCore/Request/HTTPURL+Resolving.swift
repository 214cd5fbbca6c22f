import Foundation

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
    if reference.hasPrefix("//") { return try HTTPURL(Self.withoutUserInfo("\(scheme):\(reference)")) }
    if reference.isEmpty { return self }
    if reference.hasPrefix("?") { return try HTTPURL("\(prefix(to: queryStart))\(reference)") }
    let refPath = reference.utf8.prefix { $0 != 0x3F }
    let query = reference.utf8[refPath.endIndex...]
    let path = String(decoding: refPath, as: UTF8.self)
    let merged = path.hasPrefix("/") ? path : Self.directory(of: self.path) + path
    return try HTTPURL("\(prefix(to: pathStart))\(Self.removingDots(merged))\(String(decoding: query, as: UTF8.self))")
  }

  private func prefix(to end: Int) -> String { String(decoding: string.utf8.prefix(end), as: UTF8.self) }

  private static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
    return bytes.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "/" }
    return String(path[...slash])
  }

  private static func withoutUserInfo(_ url: String) -> String {
    guard let start = url.range(of: "//")?.upperBound else { return url }
    let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    guard let at = url[start..<end].lastIndex(of: "@") else { return url }
    return String(url[..<start]) + String(url[url.index(after: at)...])
  }

  /// RFC 3986 section 5.2.4.
  private static func removingDots(_ path: String) -> String {
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
