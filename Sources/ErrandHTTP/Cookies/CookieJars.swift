import ErrandSupport

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
