package import ErrandCore

/// For how long a stored answer is fresh, and how old it is (RFC 9111 section 4.2).
package struct Freshness: Sendable, Hashable {
  /// Who says for how long.
  package enum Source: String, Sendable, Hashable {
    /// The server.
    case explicit
    /// A tenth of the time since it was changed.
    case heuristic
    /// The request.
    case declared
    /// Nobody: it is stale from the start.
    case unknown
  }

  /// Who says for how long.
  package let source: Source
  /// For how long it is fresh, in milliseconds.
  package let lifetime: Int64
  /// How old it is, in milliseconds: under a declared lifetime since it came, else since it was made. Nil where the clock
  /// was set back since, so that nobody knows.
  package let age: Int64?

  /// Finds out by the policy of the request that asks.
  package init(of stored: CacheEntryHead, policy: CachePolicy, now: CacheMoment) {
    let rule = FreshnessRule(answer: stored.answer, responseTime: stored.responseTime, policy: policy)
    source = rule.source
    lifetime = rule.lifetime
    let residence = CacheAge.residence(of: stored, now: now)
    age = rule.source == .declared ? residence : residence.map { $0.saturatingSum(stored.initialAge) }
  }

  /// By how much it is stale, in milliseconds; negative while it is fresh.
  package var staleness: Int64 { age.map { $0.saturatingDifference(lifetime) } ?? .max }

  /// Whether it may be served without asking.
  package var isFresh: Bool { staleness < 0 }

  /// For how many whole seconds it stays fresh; negative once it is stale, the least number where nobody knows.
  package var secondsLeft: Int64 { age == nil ? .min : -(staleness / 1_000) }
}
