/// Why the cache had nothing to serve.
public enum CacheMiss: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, the client has no cache, the call was started without it, or the body goes to a
  /// file or a sink.
  case disabled
  /// Nothing was stored, or it was removed or evicted.
  case missing
  /// The store could not be asked, or not in time.
  case unavailable
  /// What was stored has expired.
  case expired
  /// It was stored with another version of the policy.
  case otherVersion = "other-version"
  /// It was stored for another account.
  case otherAccount = "other-account"
  /// It was stored by another version of the app.
  case otherAppVersion = "other-app-version"
  /// It was damaged, or this request's rules refuse it.
  case damaged
}
