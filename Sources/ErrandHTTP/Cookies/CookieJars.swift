import ErrandSupport

/// A cookie jar for each account, made when it is first needed, and one for nobody.
///
/// ```swift
/// let jars = CookieJars()
/// configuration.cookies = .perAccount(jars)
/// ```
public final class CookieJars: Sendable {
  private let jars: Locked<[ByteText?: CookieJar]>
  private let make: @Sendable () -> CookieJar

  /// Makes a set of jars.
  /// - Parameter publicSuffixes: Who knows below which names strangers live; nil for no cookies that hosts share.
  public init(publicSuffixes: (any PublicSuffixes)? = nil) {
    jars = Locked([:])
    make = { CookieJar(publicSuffixes: publicSuffixes) }
  }

  /// The jar of an account as the credential provider names it; nil for nobody's.
  public func jar(of account: String?) -> CookieJar {
    let key = account.map { ByteText($0) }
    return jars.withLock { jars in
      if let jar = jars[key] { return jar }
      let jar = make()
      jars[key] = jar
      return jar
    }
  }

  /// Empties an account's jar and forgets it: a logout. Answers to its requests that are under way set nothing any
  /// more.
  public func remove(of account: String?) {
    jars.withLock { $0.removeValue(forKey: account.map { ByteText($0) }) }?.removeAll()
  }

  /// Empties and forgets every jar.
  public func removeAll() {
    let all = jars.withLock { jars in
      defer { jars = [:] }
      return Array(jars.values)
    }
    for jar in all { jar.removeAll() }
  }
}
