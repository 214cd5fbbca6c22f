/// What tells the stored answers of one request from those of every other, frozen at the start of the call.
///
/// Digests alone: no URL, no argument and no account can be read from it.
public struct CacheKey: Sendable, Hashable {
  /// Method, URL, body, chosen headers, model and account.
  public let entry: Digest
  /// The same without the account: tells that somebody else's answer is there, and nothing more.
  public let anyAccount: Digest
  /// URL and account, whatever the method and the model: what a success of an unsafe method invalidates.
  public let target: Digest
  /// The account; nobody has a digest, too.
  public let account: Digest

  /// Makes a key of its digests, for tests of stores.
  public init(entry: Digest, anyAccount: Digest, target: Digest, account: Digest) {
    self.entry = entry
    self.anyAccount = anyAccount
    self.target = target
    self.account = account
  }

  /// Whether both name the same entries.
  public static func == (left: CacheKey, right: CacheKey) -> Bool { left.entry == right.entry }
  /// Hashes the digest of the entry.
  public func hash(into hasher: inout Hasher) { hasher.combine(entry) }
}
