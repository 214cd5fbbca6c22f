/// Why a call goes past what is stored.
package enum CacheBypass: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, or the call neither reads nor stores.
  case disabled
  /// The call reads nothing, and its answer is stored.
  case ignored
  /// The method is not answered from a cache.
  case method
  /// A part of the body is wanted.
  case range
  /// The caller asks the server a question of its own.
  case conditional
}
