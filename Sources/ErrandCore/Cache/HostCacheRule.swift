/// The cache policy of a host, or of all hosts below a name.
///
/// ```swift
/// configuration.cacheRules = [HostCacheRule("cdn.example.com", .lifetime(.seconds(31_536_000)))]
/// ```
public struct HostCacheRule: Sendable, Hashable {
  private let pattern: HostPattern
  /// What is done with answers from there.
  package let policy: CachePolicy

  /// Makes a rule for a host such as `cdn.example.com`, or for every host below a name that begins with a dot, such as
  /// `.example.com`. The first rule that fits counts.
  public init(_ host: String, _ policy: CachePolicy) {
    pattern = HostPattern(host)
    self.policy = policy
  }

  /// Whether a host, in lower case, is one the rule is for.
  package func covers(_ other: String) -> Bool { pattern.covers(other) }
}
