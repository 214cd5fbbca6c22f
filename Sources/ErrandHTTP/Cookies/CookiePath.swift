/// Which paths a cookie belongs to (RFC 6265 section 5.1.4). Paths are compared byte by byte, as they are sent.
enum CookiePath {
  /// The path of a cookie that names none: that of the request up to its last slash.
  static func standard(for url: HTTPURL) -> String {
    let path = url.path
    guard path.utf8.first == 0x2F, let slash = path.utf8.lastIndex(of: 0x2F), slash > path.utf8.startIndex else {
      return "/"
    }
    return String(path[..<slash])
  }

  /// Whether a request's path lies at or below a cookie's.
  static func holds(_ cookie: String, _ path: String) -> Bool {
    let (cookie, path) = (cookie.utf8, path.utf8)
    guard path.starts(with: cookie) else { return false }
    return cookie.count == path.count || cookie.last == 0x2F || path.dropFirst(cookie.count).first == 0x2F
  }
}
