import ErrandSupport

/// What a jar holds: a value, to which the present is given. Moments are milliseconds since 1970.
struct CookieShelf: Sendable {
  /// How much there may be at once (RFC 6265 section 6.1 asks for no less).
  struct Limits: Sendable {
    var perDomain = 50
    var total = 3_000
    /// The most bytes of cookies that one request carries; many servers take no longer line than 8 or 16 KiB.
    var field = 16_384
  }

  /// A cookie, when it was first set and when it was last used, both in steps that never repeat.
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

  // MARK: - In

  /// Keeps a cookie in the place of its predecessor, or removes that one where the cookie has run out already.
  mutating func put(_ cookie: Cookie, at now: Int64) {
    step += 1
    var kept = domains[cookie.domain] ?? []
    let place = kept.firstIndex { $0.cookie.isSamePlace(as: cookie) }
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

  /// Whether a cookie that came in cleartext would take the place of a `Secure` one, or be sent in front of it
  /// (RFC 6265bis section 5.7, step 17).
  func hasSecure(covering cookie: Cookie, at now: Int64) -> Bool {
    domains.contains { domain, kept in
      guard CookieDomain.holds(domain, cookie.domain) || CookieDomain.holds(cookie.domain, domain) else { return false }
      return kept.contains { kept in
        kept.cookie.isSecure && kept.cookie.name.hasSameBytes(as: cookie.name) && !kept.cookie.isOver(at: now)
          && CookiePath.holds(kept.cookie.path, cookie.path)
      }
    }
  }

  // MARK: - Out

  /// The cookies for a URL in the order in which they are sent: longer paths first, then the earlier set first
  /// (RFC 6265 section 5.4).
  func cookies(for url: HTTPURL, at now: Int64) -> [Cookie] {
    places(for: url, at: now) { _ in true }.map { self[$0].cookie }
  }

  /// The value of `Cookie` for a URL; nil where there is none. The cookies count as used.
  /// - Parameter admits: Whether a cookie may be sent by the call that asks.
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

  /// The same, and nothing counts as used.
  func field(for url: HTTPURL, at now: Int64, where admits: (Cookie) -> Bool = { _ in true }) -> String? {
    field(places(for: url, at: now, where: admits))
  }

  /// Everything that has not run out, in the order in which it was set.
  func all(at now: Int64) -> [Cookie] {
    domains.values.joined().filter { !$0.cookie.isOver(at: now) }.sorted { $0.created < $1.created }.map(\.cookie)
  }

  // MARK: - Away

  /// Removes a cookie where it still is what it was.
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
    let places = CookieDomain.holding(host).flatMap { domain in
      (domains[domain] ?? []).enumerated().compactMap { index, kept -> Place? in
        let cookie = kept.cookie
        let isFor =
          (!cookie.isHostOnly || domain == host) && CookiePath.holds(cookie.path, path)
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

  /// What does not fit is left out, so that nobody can make the requests of another host too long to be taken.
  private func field(_ places: [Place]) -> String? {
    var field = ""
    for place in places {
      let cookie = self[place].cookie
      let length = cookie.name.utf8.count + cookie.value.utf8.count + 3
      if field.utf8.count + length > limits.field { continue }
      field += "\(field.isEmpty ? "" : "; ")\(cookie.name)=\(cookie.value)"
    }
    return field.isEmpty ? nil : field
  }

  // MARK: - Room

  /// Of a domain with too many: what has run out, then what is not `Secure`, then the rest, the longest unused first.
  private func trim(_ kept: inout [Kept], at now: Int64) {
    guard kept.count > limits.perDomain else { return }
    kept.removeAll { $0.cookie.isOver(at: now) }
    while kept.count > limits.perDomain,
      let last = kept.indices.min(by: { Self.goes(kept[$0], before: kept[$1]) })
    {
      kept.remove(at: last)
    }
  }

  private static func goes(_ left: Kept, before right: Kept) -> Bool {
    left.cookie.isSecure == right.cookie.isSecure ? left.used < right.used : !left.cookie.isSecure
  }

  /// Of all: what has run out, then the longest unused.
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
