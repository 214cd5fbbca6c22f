package import ErrandCore

/// The freshness lifetime and the age of a stored response (RFC 9111 section 4.2).
package struct Freshness: Sendable, Hashable {
  /// The rule that determines the freshness lifetime.
  package enum Source: String, Sendable, Hashable {
    /// The lifetime follows from the server's `max-age` or `Expires`.
    case explicit
    /// The lifetime is a tenth of the time between the last modification and the response.
    case heuristic
    /// The request declares the lifetime.
    case declared
    /// No lifetime is known: the response is stale from the start.
    case unknown
  }

  /// The rule that determines the freshness lifetime.
  package let source: Source
  /// The freshness lifetime, in milliseconds.
  package let lifetime: Int64
  /// The age in milliseconds; nil if the age is unknown because the clock was set back. The age begins when the server
  /// generated the response. But if the request declares the lifetime, the age begins when the response arrived.
  package let age: Int64?

  /// Computes the freshness by the cache policy of the request that reads the response.
  package init(of stored: CacheEntryHead, policy: CachePolicy, now: CacheMoment) {
    let rule = FreshnessRule(response: stored.answer, responseTime: stored.responseTime, policy: policy)
    source = rule.source
    lifetime = rule.lifetime
    let residence = CacheAge.residence(of: stored, now: now)
    age = rule.source == .declared ? residence : residence.map { $0.saturatingSum(stored.initialAge) }
  }

  /// The time in milliseconds for which the response has been stale; negative while it is fresh.
  package var staleness: Int64 { age.map { $0.saturatingDifference(lifetime) } ?? .max }

  /// Whether the response may be served without validation.
  package var isFresh: Bool { staleness < 0 }

  /// The number of whole seconds for which the response stays fresh; negative if the response is stale. If the age is
  /// unknown, the result is the smallest number.
  package var secondsLeft: Int64 { age == nil ? .min : -(staleness / 1_000) }
}
