import ErrandSupport

/// Whether a client keeps cookies, and for whom.
public struct CookieRule: Sendable {
  private enum Kind: Sendable {
    case off
    case one(CookieJar)
    case many(CookieJars)
  }

  private let kind: Kind
  /// The names of the cookies that do not separate stored responses.
  private var ignoredByCache: Set<ByteText> = []

  private init(kind: Kind) { self.kind = kind }

  /// None are kept and none are sent; a `Cookie` field set by hand is sent as it is.
  public static let off = CookieRule(kind: .off)

  /// One jar for all calls, whoever is logged in. Empty it when somebody logs out.
  public static func jar(_ jar: CookieJar) -> CookieRule { CookieRule(kind: .one(jar)) }

  /// A jar for each account of the credential provider, and one for nobody: what one was given is never shown for
  /// another.
  public static func perAccount(_ jars: CookieJars) -> CookieRule { CookieRule(kind: .many(jars)) }

  /// Whether cookies are kept.
  package var isOn: Bool {
    if case .off = kind { return false }
    return true
  }

  /// Where an account's cookies are; nil where none are kept.
  package func jar(of account: String?) -> CookieJar? {
    switch kind {
    case .off: nil
    case .one(let jar): jar
    case .many(let jars): jars.jar(of: account)
    }
  }

  /// The same rule with cookies that do not separate stored responses.
  package func ignoringInCache(_ names: Set<String>) -> CookieRule {
    if names.isEmpty { return self }
    var rule = self
    rule.ignoredByCache = Set(names.map { ByteText($0) })
    return rule
  }

  /// The `Cookie` value without the cookies that do not separate stored responses; nil if no cookie is left.
  package func separating(_ field: String) -> String? {
    if ignoredByCache.isEmpty { return field }
    let kept = field.utf8.split(separator: UInt8(ascii: ";")).map { $0.drop { $0 == UInt8(ascii: " ") } }.filter {
      !ignoredByCache.contains(ByteText(String(Substring($0.prefix { $0 != UInt8(ascii: "=") }))))
    }
    return kept.isEmpty ? nil : kept.map { String(Substring($0)) }.joined(separator: "; ")
  }

  /// The jars that stand for accounts, where there are such.
  package var jars: CookieJars? {
    if case .many(let jars) = kind { jars } else { nil }
  }
}
