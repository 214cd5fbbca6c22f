/// What a later answer says about a stored one.
package enum CacheRenewal: Sendable, Hashable {
  /// It still holds: keep it with this head.
  case renewed(CacheEntryHead)
  /// It still holds and is served with this head for the last time: remove it.
  case last(CacheEntryHead)
  /// It still holds and is served with this head, and what is stored stays as it was: the request said `no-store`.
  case unstored(CacheEntryHead)
  /// It no longer holds: remove it.
  case outdated
  /// Nothing is said about it.
  case unrelated

  /// The head to serve the stored body with, where it still holds.
  package var head: CacheEntryHead? {
    switch self {
    case .renewed(let head), .last(let head), .unstored(let head): head
    case .outdated, .unrelated: nil
    }
  }
}
