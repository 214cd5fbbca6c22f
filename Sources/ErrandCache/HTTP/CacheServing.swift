package import ErrandCore

/// A stored answer that may be served, and why.
package struct CacheServing: Sendable, Hashable {
  /// Why it may be served.
  package enum Reason: String, Sendable, Hashable {
    /// It is fresh.
    case fresh
    /// It is stale, and the server allows it to be served while it is refreshed.
    case staleWhileRevalidate = "stale-while-revalidate"
    /// It is stale by no more than the request puts up with.
    case staleAllowed = "max-stale"
    /// The call takes it at any age.
    case anyAge = "any-age"
    /// The server could not be reached or failed.
    case staleIfError = "stale-if-error"
  }

  /// Why it may be served.
  package let reason: Reason
  /// The head to answer with, its `Age` newly computed.
  package let head: ResponseHead
  /// How fresh it is.
  package let freshness: Freshness

  /// Whether one refresh is started in the background.
  package var refreshes: Bool { reason == .staleWhileRevalidate }
}
