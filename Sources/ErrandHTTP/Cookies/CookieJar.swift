import ErrandSupport

/// Keeps cookies in memory and says which of them a request carries, by RFC 6265.
///
/// ```swift
/// let jar = CookieJar()
/// configuration.cookies = .jar(jar)
/// ```
///
/// A cookie is for the host that set it. One that a server wants to share among hosts (`Domain`) is taken where the jar
/// has a list of public suffixes and the name is on it not; without a list it is refused, unless it names the very
/// host, and then it is for that host alone. A jar may be used from any thread, and by several clients.
public final class CookieJar: Sendable {
  private struct State: Sendable {
    var shelf: CookieShelf
    /// Raised when everything is removed: what an answer brings that was asked for before is not kept.
    var era: UInt64 = 0
  }

  private let state: Locked<State>
  private let publicSuffixes: (any PublicSuffixes)?
  private let wallClock: @Sendable () -> Int64

  /// Makes a jar, empty or with cookies that were kept elsewhere.
  ///
  /// - Parameters:
  ///   - cookies: What ``all`` gave, or cookies of the app's own.
  ///   - publicSuffixes: Who knows below which names strangers live; nil for no cookies that hosts share.
  public convenience init(_ cookies: [Cookie] = [], publicSuffixes: (any PublicSuffixes)? = nil) {
    self.init(cookies, publicSuffixes: publicSuffixes, wallClock: { HTTPDate.present })
  }

  /// - Parameter wallClock: The present in milliseconds since 1970.
  package init(
    _ cookies: [Cookie] = [], publicSuffixes: (any PublicSuffixes)?, wallClock: @escaping @Sendable () -> Int64
  ) {
    let now = wallClock()
    var shelf = CookieShelf()
    for cookie in cookies { shelf.put(cookie, at: now) }
    state = Locked(State(shelf: shelf))
    self.publicSuffixes = publicSuffixes
    self.wallClock = wallClock
  }

  // MARK: - For the app

  /// The cookies that have not run out, in the order in which they were first set: to look at, and to keep elsewhere.
  public var all: [Cookie] {
    let now = wallClock()
    return state.withLock { $0.shelf.all(at: now) }
  }

  /// The cookies that a request to a URL carries, in the order in which they are sent.
  public func cookies(for url: HTTPURL) -> [Cookie] {
    let now = wallClock()
    return state.withLock { $0.shelf.cookies(for: url, at: now) }
  }

  /// Keeps a cookie of the app's own, in the place of one with the same name, domain and path.
  public func set(_ cookie: Cookie) {
    let now = wallClock()
    state.withLock { $0.shelf.put(cookie, at: now) }
  }

  /// Removes the cookies that a rule picks. The rule is called before this returns, and not under a lock.
  public func remove(where rule: (Cookie) -> Bool) {
    let chosen = all.filter(rule)
    state.withLock { state in chosen.forEach { state.shelf.remove($0) } }
  }

  /// Removes every cookie: a logout. Answers to requests that are under way set none any more.
  public func removeAll() {
    state.withLock { state in
      state.shelf.removeAll()
      state.era &+= 1
    }
  }

  // MARK: - For the line

  /// The value of `Cookie` for a URL, nil where there is none, and the era to give back with the answer.
  package func takeField(for url: HTTPURL, from site: CookieSite = .same) -> (field: String?, era: UInt64) {
    let now = wallClock()
    return state.withLock { state in
      let field = state.shelf.takeField(for: url, at: now) { site.admits($0, to: url.origin, publicSuffixes) }
      return (field, state.era)
    }
  }

  /// The value of `Cookie` that a request to a URL would carry now; nothing counts as used.
  package func field(for url: HTTPURL, from site: CookieSite = .same) -> String? {
    let now = wallClock()
    return state.withLock { state in
      state.shelf.field(for: url, at: now) { site.admits($0, to: url.origin, publicSuffixes) }
    }
  }

  /// The same for a call that began at the server itself.
  package func field(for url: HTTPURL) -> String? { field(for: url, from: .same) }

  /// Keeps what an answer sets, one `Set-Cookie` value after the other. Returns what was refused.
  @discardableResult
  package func take(_ values: [String], from url: HTTPURL, era: UInt64) -> [CookieRefusal] {
    let now = wallClock()
    return values.compactMap { value in
      do throws(CookieRefusal) {
        try keep(try SetCookie(value).cookie(from: url, now: now, suffixes: publicSuffixes), from: url, now, era)
        return nil
      } catch {
        return error
      }
    }
  }

  private func keep(_ cookie: Cookie, from url: HTTPURL, _ now: Int64, _ era: UInt64) throws(CookieRefusal) {
    try state.withLock { state throws(CookieRefusal) in
      guard state.era == era else { return }
      if url.scheme != .https, state.shelf.hasSecure(covering: cookie, at: now) { throw .coversSecure }
      state.shelf.put(cookie, at: now)
    }
  }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How many cookies there are; none of them.
  public var description: String { "CookieJar(\(state.withLock { $0.shelf.count }) cookies)" }
  /// How many cookies there are; none of them.
  public var debugDescription: String { description }
  /// What a dump shows: how many cookies there are.
  public var customMirror: Mirror { Mirror(self, children: ["cookies": state.withLock { $0.shelf.count }]) }
}
