package import ErrandCore

/// A stored response that may be served, and the reason for serving it.
package struct CacheServing: Sendable, Hashable {
  /// The reason why a stored response may be served.
  package enum Reason: String, Sendable, Hashable {
    /// The stored response is fresh.
    case fresh
    /// The stored response is stale, but the server allows caches to serve it while they refresh it.
    case staleWhileRevalidate = "stale-while-revalidate"
    /// The stored response is stale, or the request's `max-age` or `min-fresh` excludes it, but the request's
    /// `max-stale` allows it.
    case staleAllowed = "max-stale"
    /// The stored response is fresh, but its `no-cache` requires a validation. The call accepts a stored response of
    /// any age without a validation.
    case unvalidated = "no-cache"
    /// The stored response is stale, and the call accepts a stored response of any age.
    case anyAge = "any-age"
    /// The stored response is served because the server failed or could not be reached.
    case staleIfError = "stale-if-error"
  }

  /// The reason why the stored response may be served.
  package let reason: Reason
  /// The head (status and fields) to serve, with the current `Age`.
  package let head: ResponseHead
  /// The freshness of the stored response.
  package let freshness: Freshness

  /// Whether the stored response is fresh and no request was sent.
  package var isFresh: Bool { freshness.isFresh && reason != .staleIfError }

  /// Whether a background refresh must be started when the stored response is served.
  package var refreshes: Bool { reason == .staleWhileRevalidate }
}
