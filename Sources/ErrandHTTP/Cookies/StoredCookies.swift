import ErrandSupport

/// The cookies of a jar, as a value type. The caller passes the current time. Times are milliseconds since 1970.
struct StoredCookies: Sendable {
  /// The maximum numbers of cookies. RFC 6265 section 6.1 requires at least these numbers.
  struct Limits: Sendable {
    var perDomain = 50
    var total = 3_000
    /// The maximum number of bytes of cookies in one request. Many servers accept header lines of at most 8 KiB or 16
    /// KiB.
    var field = 16_384
  }

  /// A stored cookie. The jar has a counter, `step`, which is incremented whenever a cookie is stored or used.
  /// `created` and `used` are the values of `step` at the creation and at the last use of the cookie.
  private struct Kept: Sendable {
    var cookie: Cookie
    let created: UInt64
    var used: UInt64
  }

  private let limits: Limits
  private var domains: [String: [Kept]] = [:]
  private var step: UInt64 = 0
  private(set) var count = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  // MARK: - Storing

  /// Stores a cookie in place of the existing cookie with the same name, domain and path. A cookie that has already
  /// expired only removes the existing cookie.
  mutating func put(_ cookie: Cookie, at now: Int64) {
    step += 1
    var kept = domains[cookie.domain] ?? []
    let place = kept.firstIndex { $0.cookie.hasSameIdentity(as: cookie) }
    let before = kept.count
    switch (place, cookie.isOver(at: now)) {
    case (let place?, true): kept.remove(at: place)
    case (let place?, false): kept[place] = Kept(cookie: cookie, created: kept[place].created, used: step)
    case (nil, true): return
    case (nil, false): kept.append(Kept(cookie: cookie, created: step, used: step))
    }
    trim(&kept, at: now)
    count += kept.count - before
    domains[cookie.domain] = kept.isEmpty ? nil : kept
    if count > limits.total { trim(at: now) }
  }

  /// Whether a cookie that was sent without TLS would replace a `Secure` cookie, or would be sent in front of a
  /// `Secure` cookie with the same name (RFC 6265bis section 5.7, step 16).
  func hasSecure(covering cookie: Cookie, at now: Int64) -> Bool {
    domains.contains { domain, kept in
      guard CookieDomain.matches(domain, cookie.domain) || CookieDomain.matches(cookie.domain, domain) else {
        return false
      }
      return kept.contains { kept in
        kept.cookie.isSecure && kept.cookie.name.hasSameBytes(as: cookie.name) && !kept.cookie.isOver(at: now)
          && CookiePath.matches(kept.cookie.path, cookie.path)
      }
    }
  }

  // MARK: - Selecting

  /// The cookies for a URL in the order in which they are sent: first cookies with longer paths, and among paths of
  /// equal length first cookies that were created earlier (RFC 6265 section 5.4).
  func cookies(for url: HTTPURL, at now: Int64) -> [Cookie] {
    places(for: url, at: now) { _ in true }.map { self[$0].cookie }
  }

  /// Returns the value of the `Cookie` field for a URL, or nil if no cookie applies. Marks the cookies as used.
  /// - Parameter admits: Whether the call may send a cookie.
  mutating func takeField(
    for url: HTTPURL, at now: Int64, where admits: (Cookie) -> Bool = { _ in true }
  ) -> String? {
    let places = places(for: url, at: now, where: admits)
    for place in places {
      step += 1
      domains[place.domain]?[place.index].used = step
    }
    return field(places)
  }

  /// The value of the `Cookie` field for a URL; nil if no cookie applies. Does not mark the cookies as used.
  func field(for url: HTTPURL, at now: Int64, where admits: (Cookie) -> Bool = { _ in true }) -> String? {
    field(places(for: url, at: now, where: admits))
  }

  /// All cookies that have not expired, in the order in which they were set.
  func all(at now: Int64) -> [Cookie] {
    domains.values.joined().filter { !$0.cookie.isOver(at: now) }.sorted { $0.created < $1.created }.map(\.cookie)
  }

  // MARK: - Removing

  /// Removes a cookie from the jar. Does nothing if a different cookie has replaced it in the meantime.
  mutating func remove(_ cookie: Cookie) {
    guard var kept = domains[cookie.domain], let place = kept.firstIndex(where: { $0.cookie == cookie }) else { return }
    kept.remove(at: place)
    count -= 1
    domains[cookie.domain] = kept.isEmpty ? nil : kept
  }

  mutating func removeAll() {
    domains = [:]
    count = 0
  }

  // MARK: - Places

  private struct Place {
    let domain: String
    let index: Int
  }

  private subscript(place: Place) -> Kept { domains[place.domain, default: []][place.index] }

  private func places(for url: HTTPURL, at now: Int64, where admits: (Cookie) -> Bool) -> [Place] {
    if count == 0 { return [] }
    let (host, path) = (url.host, url.path.isEmpty ? "/" : url.path)
    let places = CookieDomain.domains(matching: host).flatMap { domain in
      (domains[domain] ?? []).enumerated().compactMap { index, kept -> Place? in
        let cookie = kept.cookie
        let isFor =
          (!cookie.isHostOnly || domain == host) && CookiePath.matches(cookie.path, path)
          && (!cookie.isSecure || url.scheme == .https) && !cookie.isOver(at: now) && admits(cookie)
        return isFor ? Place(domain: domain, index: index) : nil
      }
    }
    return places.sorted { left, right in
      let (left, right) = (self[left], self[right])
      let lengths = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
      return lengths.0 == lengths.1 ? left.created < right.created : lengths.0 > lengths.1
    }
  }

  /// Makes the value of the `Cookie` field. Cookies that would exceed the size limit are left out. Otherwise one host
  /// of a domain could set so many cookies that the other hosts of the domain reject all requests.
  private func field(_ places: [Place]) -> String? {
    var (field, sum) = ("", 0)
    for place in places {
      let cookie = self[place].cookie
      let count = FieldOctets.count(of: cookie.name) + FieldOctets.count(of: cookie.value) + 1
      let whole = sum + (field.isEmpty ? 0 : 2) + count
      if whole > limits.field { continue }
      sum = whole
      field += "\(field.isEmpty ? "" : "; ")\(cookie.name)=\(cookie.value)"
    }
    return field.isEmpty ? nil : field
  }

  // MARK: - Capacity

  /// Removes cookies of one domain until their number is within the limit. All expired cookies are removed first, then
  /// cookies that are not `Secure`, then other cookies. Within each group the least recently used cookie is removed
  /// first.
  private func trim(_ kept: inout [Kept], at now: Int64) {
    guard kept.count > limits.perDomain else { return }
    kept.removeAll { $0.cookie.isOver(at: now) }
    while kept.count > limits.perDomain,
      let last = kept.indices.min(by: { Self.isRemoved(kept[$0], before: kept[$1]) })
    {
      kept.remove(at: last)
    }
  }

  private static func isRemoved(_ left: Kept, before right: Kept) -> Bool {
    left.cookie.isSecure == right.cookie.isSecure ? left.used < right.used : !left.cookie.isSecure
  }

  /// Removes cookies of all domains until the total number is within the limit. All expired cookies are removed first,
  /// then the least recently used cookies.
  private mutating func trim(at now: Int64) {
    for (domain, kept) in domains {
      let left = kept.filter { !$0.cookie.isOver(at: now) }
      count -= kept.count - left.count
      domains[domain] = left.isEmpty ? nil : left
    }
    while count > limits.total,
      let last = domains.values.joined().min(by: { $0.used < $1.used })
    {
      remove(last.cookie)
    }
  }
}

/// Decides to which paths a cookie is sent (RFC 6265 section 5.1.4). Paths are compared byte by byte, as they are sent.
enum CookiePath {
  /// The path of a cookie without a `Path` attribute: the path of the request up to its last slash.
  static func standard(for url: HTTPURL) -> String {
    let path = url.path
    guard path.utf8.first == 0x2F, let slash = path.utf8.lastIndex(of: 0x2F), slash > path.utf8.startIndex else {
      return "/"
    }
    return String(path[..<slash])
  }

  /// Whether a request's path is the path of a cookie or below it.
  static func matches(_ cookie: String, _ path: String) -> Bool {
    let (cookie, path) = (cookie.utf8, path.utf8)
    guard path.starts(with: cookie) else { return false }
    return cookie.count == path.count || cookie.last == 0x2F || path.dropFirst(cookie.count).first == 0x2F
  }
}
