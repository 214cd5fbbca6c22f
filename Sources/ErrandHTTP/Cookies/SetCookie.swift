import ErrandSupport

/// The parsed value of a `Set-Cookie` field, not yet validated (RFC 6265 section 5.2).
///
/// If an attribute occurs twice, its last value is used. Unknown attributes, and attributes longer than 1024 bytes, are
/// ignored.
struct SetCookie: Sendable, Hashable {
  /// The maximum number of bytes in the value of an attribute. Longer attributes are ignored.
  private static let longestAttribute = 1_024

  /// The name of the cookie, never empty.
  let name: String
  let value: String
  /// The value of `Max-Age` in seconds; nil if the attribute is missing or invalid.
  private(set) var maxAge: Int64?
  /// The value of `Expires` in milliseconds since 1970; nil if the attribute is missing or invalid.
  private(set) var expires: Int64?
  /// The value of `Domain` as received; nil if the attribute is missing or empty.
  private(set) var domain: String?
  /// The value of `Path`; nil if the attribute is missing or its value does not begin with a slash.
  private(set) var path: String?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  private(set) var sameSite: Cookie.SameSite?

  /// Parses the value of a `Set-Cookie` field. Throws if the field contains a control character or no name, or if the
  /// name and the value together are too long.
  init(_ field: String) throws(CookieRefusal) {
    guard ASCII.all(field, { ASCII.isFieldValue($0) }) else { throw .control }
    let parts = field.utf8.split(separator: 0x3B, omittingEmptySubsequences: false)
    let (name, value) = Self.pair(parts[0])
    guard let value, !name.isEmpty else { throw .nameless }
    (self.name, self.value) = (name, value)
    guard Cookie.isShort(self.name, self.value) else { throw .tooLong }
    for part in parts.dropFirst() {
      let (name, value) = Self.pair(part)
      let text = value ?? ""
      if FieldOctets.count(of: text) <= Self.longestAttribute { take(name.lowercased(), text) }
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

  /// Splits text at the first equals sign into a name and a value, without white space at their ends. Without an equals
  /// sign, the whole text is the name.
  private static func pair(_ part: Substring.UTF8View) -> (name: String, value: String?) {
    guard let equals = part.firstIndex(of: 0x3D) else { return (trimmed(part), nil) }
    return (trimmed(part[..<equals]), trimmed(part[equals...].dropFirst()))
  }

  private static func trimmed(_ text: Substring.UTF8View) -> String { String(Substring(ASCII.trimmed(text))) }

  /// Parses digits with an optional minus sign. Numbers outside the range of `Int64` are clamped.
  private static func seconds(_ text: String) -> Int64? {
    let isNegative = text.utf8.first == 0x2D
    let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
    guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
    return Int64(text) ?? (isNegative ? .min : .max)
  }
}

extension SetCookie {
  /// 400 days in milliseconds: no cookie is kept longer, whatever the server sets (RFC 6265bis section 5.5).
  static let longestLife: Int64 = 400 * 86_400_000

  /// Returns the cookie to store. If the cookie has already expired, storing it only removes an existing cookie. The
  /// result depends only on the arguments (RFC 6265 section 5.3; prefixes of names by RFC 6265bis section 5.7).
  ///
  /// - Parameters:
  ///   - url: The URL of the response.
  ///   - now: Milliseconds since 1970.
  ///   - suffixes: The list of public suffixes; without a list, cookies for several hosts are rejected.
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

  /// Returns the domain of the cookie, and whether the cookie is sent only to the host with the name `host`.
  private func place(
    at host: String, _ suffixes: (any PublicSuffixes)?
  ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
    guard let attribute = domain else { return (host, true) }
    guard let domain = CookieDomain.domain(of: attribute), !domain.isEmpty else { throw .invalidDomain }
    guard CookieDomain.matches(domain, host) else { throw .foreignDomain }
    if domain == host {
      let isShared = CookieDomain.isName(host) && suffixes.map { !$0.isPublicSuffix(host) } ?? false
      return (host, !isShared)
    }
    guard let suffixes else { throw .unknownSuffix }
    guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
    return (domain, false)
  }

  /// Whether the cookie meets the requirements of its name's prefix, such as `__Host-`. Prefixes are compared without
  /// regard to case.
  private var keepsPrefix: Bool {
    if Cookie.isForHost(name) { return isSecure && domain == nil && path == "/" }
    return !Cookie.isForTLS(name) || isSecure
  }

  /// The expiry time in milliseconds since 1970; nil for a session cookie.
  private func expiry(_ now: Int64) -> Int64? {
    let (latest, overflow) = now.addingReportingOverflow(Self.longestLife)
    let limit = overflow ? Int64.max : latest
    guard let maxAge else { return expires.map { min($0, limit) } }
    if maxAge <= 0 { return .min }
    return overflow || maxAge > Self.longestLife / 1_000 ? limit : now + maxAge * 1_000
  }
}

/// Parses the dates of the cookie attribute `Expires` as leniently as RFC 6265 section 5.1.1 requires. ``HTTPDate``
/// parses the strict format of other fields.
package enum CookieDate {
  /// The components of a date that were found so far. If several tokens fit a component, the first of these tokens is
  /// used.
  private struct Found {
    var secondOfDay: Int64?
    var day: Int64?
    var month: Int64?
    var year: Int64?
  }

  /// The date in milliseconds since 1970 in UTC; nil if the text is not a date.
  package static func milliseconds(of text: String) -> Int64? {
    var found = Found()
    for token in Array(text.utf8).split(whereSeparator: isDelimiter) {
      guard take(token, &found) else { return nil }
    }
    guard let second = found.secondOfDay, let day = found.day, let month = found.month, let year = found.year,
      year >= 1_601, let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    return (date.dayNumber * 86_400 + second) * 1_000
  }

  /// Stores a token in the first missing component that the token fits. Returns false if the token is an invalid time
  /// of day.
  private static func take(_ token: ArraySlice<UInt8>, _ found: inout Found) -> Bool {
    if found.secondOfDay == nil, let clock = clock(token) {
      guard clock.hour < 24, clock.minute < 60, clock.second < 60 else { return false }
      found.secondOfDay = (clock.hour * 60 + clock.minute) * 60 + clock.second
    } else if found.day == nil, let day = number(token, 1...2) {
      found.day = day
    } else if found.month == nil, let month = month(token) {
      found.month = month
    } else if found.year == nil, let year = number(token, 2...4) {
      found.year = year < 70 ? year + 2_000 : year < 100 ? year + 1_900 : year
    }
    return true
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Parses a time of day at the start of a token. Text after the time is ignored.
  private static func clock(_ token: ArraySlice<UInt8>) -> (hour: Int64, minute: Int64, second: Int64)? {
    let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = whole(parts[0]), let minute = whole(parts[1]),
      let second = number(parts[2], 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  /// Returns the number if the text consists of one or two digits; nil otherwise.
  private static func whole(_ text: ArraySlice<UInt8>) -> Int64? {
    text.allSatisfy(ASCII.isDigit) ? number(text, 1...2) : nil
  }

  /// Returns the number at the start of a token; nil if the number of its digits is not in `width`.
  private static func number(_ token: ArraySlice<UInt8>, _ width: ClosedRange<Int>) -> Int64? {
    let digits = token.prefix(while: ASCII.isDigit)
    guard width.contains(digits.count) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 &- 0x30) }
  }

  private static func month(_ token: ArraySlice<UInt8>) -> Int64? {
    let name = token.prefix(3)
    let place = HTTPDate.months.firstIndex { month in
      month.withUTF8Buffer { ASCII.equalFolded(name, $0) }
    }
    return place.map { Int64($0) + 1 }
  }
}
