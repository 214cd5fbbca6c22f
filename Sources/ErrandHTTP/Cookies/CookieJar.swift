import ErrandSupport

/// Stores cookies in memory and selects the cookies of a request, by RFC 6265.
///
/// ```swift
/// let jar = CookieJar()
/// configuration.cookies = .jar(jar)
/// ```
///
/// By default a cookie belongs only to the host that set it. A server can set a cookie for several hosts with the
/// `Domain` attribute:
/// - With a list of public suffixes, the jar accepts the cookie if the domain is not a public suffix.
/// - Without a list, the jar rejects the cookie, unless the domain is the host itself. In that case the cookie belongs
///   to that host only.
///
/// A jar may be used from any thread and by several clients.
public final class CookieJar: Sendable {
  private struct State: Sendable {
    var cookies: StoredCookies
    /// The number of times that all cookies were removed. If this number changes while a request is running, the
    /// cookies of its response are dropped.
    var removalCount: UInt64 = 0
  }

  private let state: Locked<State>
  private let publicSuffixes: (any PublicSuffixes)?
  private let wallClock: @Sendable () -> Int64

  /// Makes a jar, empty or with cookies that were stored elsewhere.
  ///
  /// - Parameters:
  ///   - cookies: Cookies that were read from ``all`` and stored, or cookies that the app made.
  ///   - publicSuffixes: The list of public suffixes; without a list, cookies for several hosts are rejected.
  public convenience init(_ cookies: [Cookie] = [], publicSuffixes: (any PublicSuffixes)? = nil) {
    self.init(cookies, publicSuffixes: publicSuffixes, wallClock: { HTTPDate.present })
  }

  /// Makes a jar with a custom clock.
  /// - Parameter wallClock: Returns the current time in milliseconds since 1970.
  package init(
    _ cookies: [Cookie] = [], publicSuffixes: (any PublicSuffixes)?, wallClock: @escaping @Sendable () -> Int64
  ) {
    let now = wallClock()
    var stored = StoredCookies()
    for cookie in cookies { stored.put(cookie, at: now) }
    state = Locked(State(cookies: stored))
    self.publicSuffixes = publicSuffixes
    self.wallClock = wallClock
  }

  // MARK: - For the app

  /// The cookies that have not expired, in the order in which they were first set. The app can inspect or store these
  /// cookies.
  public var all: [Cookie] {
    let now = wallClock()
    return state.withLock { $0.cookies.all(at: now) }
  }

  /// The cookies that a request to a URL carries, in the order in which they are sent.
  public func cookies(for url: HTTPURL) -> [Cookie] {
    let now = wallClock()
    return state.withLock { $0.cookies.cookies(for: url, at: now) }
  }

  /// Stores a cookie that the app made. It replaces a cookie with the same name, domain and path.
  public func set(_ cookie: Cookie) {
    let now = wallClock()
    state.withLock { $0.cookies.put(cookie, at: now) }
  }

  /// Removes the cookies for which the rule returns true. The rule is called before `remove` returns, while no lock is
  /// held.
  public func remove(where rule: (Cookie) -> Bool) {
    let chosen = all.filter(rule)
    state.withLock { state in chosen.forEach { state.cookies.remove($0) } }
  }

  /// Removes every cookie, for example on logout. Requests that are still running set no cookies afterwards.
  public func removeAll() {
    state.withLock { state in
      state.cookies.removeAll()
      state.removalCount &+= 1
    }
  }

  // MARK: - For the pipeline

  /// Returns the value of the `Cookie` field for a URL, or nil if no cookie applies. Marks the returned cookies as
  /// used. The caller passes the returned `removalCount` to ``take(_:from:removalCount:)`` with the response, so that
  /// the response sets no cookies after ``removeAll()``.
  package func takeField(for url: HTTPURL, from site: CookieSite = .same) -> (field: String?, removalCount: UInt64) {
    let now = wallClock()
    return state.withLock { state in
      let field = state.cookies.takeField(for: url, at: now) { site.admits($0, to: url.origin, publicSuffixes) }
      return (field, state.removalCount)
    }
  }

  /// The value of the `Cookie` field that a request to a URL would have now; nil if no cookie applies. Does not mark
  /// the cookies as used.
  package func field(for url: HTTPURL, from site: CookieSite = .same) -> String? {
    let now = wallClock()
    return state.withLock { state in
      state.cookies.field(for: url, at: now) { site.admits($0, to: url.origin, publicSuffixes) }
    }
  }

  /// Stores the cookies of a response, one for each `Set-Cookie` value. Returns the reasons why cookies were rejected.
  @discardableResult
  package func take(_ values: [String], from url: HTTPURL, removalCount: UInt64) -> [CookieRefusal] {
    let now = wallClock()
    return values.compactMap { value in
      do throws(CookieRefusal) {
        let cookie = try SetCookie(value).cookie(from: url, now: now, suffixes: publicSuffixes)
        try keep(cookie, from: url, now, removalCount)
        return nil
      } catch {
        return error
      }
    }
  }

  private func keep(
    _ cookie: Cookie, from url: HTTPURL, _ now: Int64, _ removalCount: UInt64
  ) throws(CookieRefusal) {
    try state.withLock { state throws(CookieRefusal) in
      guard state.removalCount == removalCount else { return }
      if url.scheme != .https, state.cookies.hasSecure(covering: cookie, at: now) { throw .coversSecure }
      state.cookies.put(cookie, at: now)
    }
  }
}

extension CookieJar: Masked {
  /// The number of cookies, never their content.
  public var description: String { "CookieJar(\(state.withLock { $0.cookies.count }) cookies)" }
}

/// A set of cookie jars: one jar for each account, made when the account first needs it, and one jar for calls without
/// an account.
///
/// ```swift
/// let jars = CookieJars()
/// configuration.cookies = .perAccount(jars)
/// ```
public final class CookieJars: Sendable {
  private let jars: Locked<[ByteText?: CookieJar]>
  private let make: @Sendable () -> CookieJar

  /// Makes a set of jars.
  /// - Parameter publicSuffixes: The list of public suffixes; without a list, cookies for several hosts are rejected.
  public init(publicSuffixes: (any PublicSuffixes)? = nil) {
    jars = Locked([:])
    make = { CookieJar(publicSuffixes: publicSuffixes) }
  }

  /// The jar of an account. `account` is the name that the credential provider uses; nil for calls without an account.
  public func jar(of account: String?) -> CookieJar {
    let key = account.map { ByteText($0) }
    return jars.withLock { jars in
      if let jar = jars[key] { return jar }
      let jar = make()
      jars[key] = jar
      return jar
    }
  }

  /// Empties and removes the jar of an account, for example on logout. Requests of the account that are still running
  /// set no cookies afterwards.
  public func remove(of account: String?) {
    jars.withLock { $0.removeValue(forKey: account.map { ByteText($0) }) }?.removeAll()
  }

  /// Empties and removes every jar.
  public func removeAll() {
    let all = jars.withLock { jars in
      defer { jars = [:] }
      return Array(jars.values)
    }
    for jar in all { jar.removeAll() }
  }
}

/// The reason why a cookie of a response is not stored.
package enum CookieRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cookie contains a control character.
  case control
  /// The cookie has no name.
  case nameless
  /// The name and the value together are longer than ``Cookie/longest`` bytes.
  case tooLong
  /// The `Domain` of the cookie is not a host name in ASCII.
  case invalidDomain
  /// The `Domain` of the cookie does not cover the host that sent the cookie.
  case foreignDomain
  /// The `Domain` of the cookie is a public suffix.
  case publicSuffix
  /// The `Domain` of the cookie covers several hosts, and the jar has no list of public suffixes.
  case unknownSuffix
  /// The cookie is `Secure`, but was sent without TLS.
  case insecure
  /// The cookie was sent without TLS and would replace a `Secure` cookie.
  case coversSecure
  /// The name of the cookie begins with `__Secure-` or `__Host-`, and the cookie violates the requirements of that
  /// prefix.
  case prefix

  package var description: String {
    switch self {
    case .control: "the cookie contains a control character"
    case .nameless: "the cookie has no name"
    case .tooLong: "the name and the value of the cookie have more than \(Cookie.longest) bytes together"
    case .invalidDomain: "the Domain of the cookie is not a host name"
    case .foreignDomain: "the Domain of the cookie does not cover the host that sent the cookie"
    case .publicSuffix: "the Domain of the cookie is a public suffix"
    case .unknownSuffix:
      "the Domain of the cookie covers several hosts, and the jar has no list of public suffixes"
    case .insecure: "the cookie is Secure but was sent over http"
    case .coversSecure: "the cookie was sent over http and would replace a Secure cookie"
    case .prefix:
      "the name of the cookie begins with __Secure- or __Host-, and the cookie violates the requirements of that prefix"
    }
  }
}
