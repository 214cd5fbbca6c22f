/// What a `Set-Cookie` field says, taken apart and not yet judged (RFC 6265 section 5.2).
///
/// Of an attribute that stands there twice, the last one counts. Unknown ones, and those longer than 1024 bytes, are
/// passed over.
struct SetCookie: Sendable, Hashable {
  /// The longest value of an attribute, in bytes.
  private static let longestAttribute = 1_024

  /// Not empty.
  let name: String
  let value: String
  /// In seconds; nil where it is not said, or not said right.
  private(set) var maxAge: Int64?
  /// In milliseconds since 1970; nil where it is not said, or not said right.
  private(set) var expires: Int64?
  /// As it was written; nil where none is said, or an empty one.
  private(set) var domain: String?
  /// Nil where none is said, or one that does not begin with a slash.
  private(set) var path: String?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  private(set) var sameSite: Cookie.SameSite?

  /// Takes a field's value apart.
  init(_ field: String) throws(CookieRefusal) {
    let bytes = Array(field.utf8)
    guard bytes.allSatisfy(ASCII.isFieldValue) else { throw .control }
    let parts = bytes.split(separator: 0x3B, omittingEmptySubsequences: false)
    let (name, value) = Self.pair(parts.first ?? [])
    guard let value, !name.isEmpty else { throw .nameless }
    guard name.count + value.count <= Cookie.longest else { throw .tooLong }
    self.name = Self.text(name)
    self.value = Self.text(value)
    for part in parts.dropFirst() {
      let (name, value) = Self.pair(part)
      if (value?.count ?? 0) <= Self.longestAttribute { take(Self.text(name).lowercased(), Self.text(value ?? [])) }
    }
  }

  private mutating func take(_ attribute: String, _ value: String) {
    switch attribute {
    case "expires": if let date = CookieDate.milliseconds(of: value) { expires = date }
    case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
    case "domain": if !value.isEmpty { domain = value == "." ? nil : value }
    case "path": path = value.utf8.first == 0x2F ? value : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = Cookie.SameSite(rawValue: value.lowercased())
    default: break
    }
  }

  /// Name and value around the first equals sign, white space removed; without one all is the name.
  private static func pair(_ part: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
    guard let equals = part.firstIndex(of: 0x3D) else { return (trimmed(part), nil) }
    return (trimmed(part[..<equals]), trimmed(part[(equals + 1)...]))
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    guard let start = bytes.firstIndex(where: { !isSpace($0) }), let end = bytes.lastIndex(where: { !isSpace($0) })
    else {
      return []
    }
    return bytes[start...end]
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Digits with or without a minus; held to what can be said.
  private static func seconds(_ text: String) -> Int64? {
    let isNegative = text.utf8.first == 0x2D
    let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
    guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
    return Int64(text) ?? (isNegative ? .min : .max)
  }
}

extension SetCookie {
  /// 400 days in milliseconds: no cookie is kept longer, whatever the server says (RFC 6265bis section 5.5).
  static let longestLife: Int64 = 400 * 86_400_000

  /// The cookie that is to be kept, or to be removed where it has run out already. A function of values (RFC 6265
  /// section 5.3, prefixes by RFC 6265bis section 5.7).
  ///
  /// - Parameters:
  ///   - url: Where the answer came from.
  ///   - now: Milliseconds since 1970.
  ///   - suffixes: Who knows public suffixes; nil for nobody. Then no cookie is shared among hosts.
  func cookie(
    from url: HTTPURL, now: Int64, suffixes: (any PublicSuffixes)?
  ) throws(CookieRefusal) -> Cookie {
    let (domain, isHostOnly) = try place(at: url.host, suffixes)
    if isSecure, url.scheme != .https { throw .insecure }
    guard keepsPrefix else { throw .prefix }
    return Cookie(
      unchecked: name, value, domain: domain, isHostOnly: isHostOnly, path: path ?? CookiePath.standard(for: url),
      isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expires: expiry(now))
  }

  /// The domain, and whether the cookie is for that one host alone.
  private func place(
    at host: String, _ suffixes: (any PublicSuffixes)?
  ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
    guard let attribute = domain else { return (host, true) }
    guard let domain = CookieDomain.domain(of: attribute), !domain.isEmpty else { throw .invalidDomain }
    guard CookieDomain.holds(domain, host) else { throw .foreignDomain }
    if domain == host {
      let isShared = CookieDomain.isName(host) && suffixes.map { !$0.isPublicSuffix(host) } ?? false
      return (host, !isShared)
    }
    guard let suffixes else { throw .unknownSuffix }
    guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
    return (domain, false)
  }

  /// Whether the cookie is what its name says, in any case of letters.
  private var keepsPrefix: Bool {
    if Cookie.isForHost(name) { return isSecure && domain == nil && path == "/" }
    return !Cookie.isForTLS(name) || isSecure
  }

  /// When it runs out; nil for the end of the session.
  private func expiry(_ now: Int64) -> Int64? {
    let (latest, overflow) = now.addingReportingOverflow(Self.longestLife)
    let limit = overflow ? Int64.max : latest
    guard let maxAge else { return expires.map { min($0, limit) } }
    if maxAge <= 0 { return .min }
    return overflow || maxAge > Self.longestLife / 1_000 ? limit : now + maxAge * 1_000
  }
}
