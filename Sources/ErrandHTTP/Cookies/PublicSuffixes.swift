/// Knows the names below which strangers live side by side, such as `com`, `co.uk` or `github.io`.
///
/// A cookie for such a name would reach all of them. The product `ErrandPublicSuffix` has the list that browsers use; a
/// test may have one of its own:
///
/// ```swift
/// struct OneSuffix: PublicSuffixes {
///   func isPublicSuffix(_ domain: String) -> Bool { domain == "com" }
/// }
/// ```
public protocol PublicSuffixes: Sendable {
  /// Whether a domain is a public suffix. It is given in lower case, in its ASCII form (`xn--…`), and without a dot at
  /// either end. Any thread; must not block.
  func isPublicSuffix(_ domain: String) -> Bool
}
