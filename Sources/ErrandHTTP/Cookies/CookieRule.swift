import ErrandSupport

/// Defines where a client stores cookies: in one jar, in one jar for each account, or not at all.
public struct CookieRule: Sendable {
  private enum Kind: Sendable {
    case off
    case one(CookieJar)
    case many(CookieJars)
  }

  private let kind: Kind
  /// The names of cookies that are not part of the key under which the cache stores a response.
  private var ignoredByCache: Set<ByteText> = []

  private init(kind: Kind) { self.kind = kind }

  /// No cookies are stored or sent; a `Cookie` field that the app sets is sent unchanged.
  public static let off = CookieRule(kind: .off)

  /// One jar for all calls, whatever their account. Remove all cookies of the jar on logout.
  public static func jar(_ jar: CookieJar) -> CookieRule { CookieRule(kind: .one(jar)) }

  /// A jar for each account of the credential provider, and one jar for calls without an account. Cookies of one
  /// account are never sent with calls of another account.
  public static func perAccount(_ jars: CookieJars) -> CookieRule { CookieRule(kind: .many(jars)) }

  /// Whether cookies are stored.
  package var isOn: Bool {
    if case .off = kind { return false }
    return true
  }

  /// The jar of an account; nil if cookies are off.
  package func jar(of account: String?) -> CookieJar? {
    switch kind {
    case .off: nil
    case .one(let jar): jar
    case .many(let jars): jars.jar(of: account)
    }
  }

  /// Returns a copy of the rule. With this copy, cookies with the given names are not part of the key under which the
  /// cache stores a response.
  package func ignoringInCache(_ names: Set<String>) -> CookieRule {
    if names.isEmpty { return self }
    var rule = self
    rule.ignoredByCache = Set(names.map { ByteText($0) })
    return rule
  }

  /// Returns the `Cookie` value for the key of a stored response, without the cookies whose names the app ignores. Nil
  /// if no cookie is left.
  package func cacheKeyValue(of field: String) -> String? {
    if ignoredByCache.isEmpty { return field }
    let kept = field.utf8.split(separator: UInt8(ascii: ";")).map { $0.drop { $0 == UInt8(ascii: " ") } }.filter {
      !ignoredByCache.contains(ByteText(String(Substring($0.prefix { $0 != UInt8(ascii: "=") }))))
    }
    return kept.isEmpty ? nil : kept.map { String(Substring($0)) }.joined(separator: "; ")
  }

  /// The jars of the accounts; nil if the rule does not use one jar for each account.
  package var jars: CookieJars? {
    if case .many(let jars) = kind { jars } else { nil }
  }
}

/// Whether a request uses the cookies of its client.
public enum CookieUse: Sendable, Hashable {
  /// The request uses the cookie rule of the client.
  case inherited
  /// The request carries no cookies, and its response sets none.
  case none
}
