/// Identifies the stored responses to one request. The key is computed at the start of a call and does not change.
///
/// A key consists only of digests, so it reveals no URL, no argument and no account.
public struct CacheKey: Sendable, Hashable {
  /// The digest of method, URL, body, selected header fields, cache model and account.
  public let entry: Digest
  /// The digest of the same values as ``entry``, but without the account. A store uses this digest only to find out
  /// whether another account has an entry.
  public let anyAccount: Digest
  /// The digest of URL and account, without method and cache model. A successful request with an unsafe method, such as
  /// POST, removes all entries that have this digest for its URL.
  public let target: Digest
  /// The digest of the account. Without an account, it is the digest of the secret fields and the identity of the
  /// transport.
  public let account: Digest

  /// Makes a key from its digests, for tests of stores.
  public init(entry: Digest, anyAccount: Digest, target: Digest, account: Digest) {
    self.entry = entry
    self.anyAccount = anyAccount
    self.target = target
    self.account = account
  }

  /// Whether both keys have the same ``entry``.
  public static func == (left: CacheKey, right: CacheKey) -> Bool { left.entry == right.entry }
  /// Hashes ``entry``.
  public func hash(into hasher: inout Hasher) { hasher.combine(entry) }
}
