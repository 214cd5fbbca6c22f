/// A list of public suffixes: names under which anyone can register a domain, such as `com`, `co.uk` or `github.io`.
///
/// A cookie for a public suffix would be sent to unrelated hosts. The product `ErrandPublicSuffix` contains the list
/// that browsers use. A test may use its own list:
///
/// ```swift
/// struct OneSuffix: PublicSuffixes {
///   func isPublicSuffix(_ domain: String) -> Bool { domain == "com" }
/// }
/// ```
public protocol PublicSuffixes: Sendable {
  /// Whether a domain is a public suffix. The domain is in lower case, in its ASCII form (`xn--…`), and without a dot
  /// at either end. Called on any thread; must not block.
  func isPublicSuffix(_ domain: String) -> Bool
}
