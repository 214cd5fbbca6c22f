/// Counts the keys with stored entries by request and by account. A store finds out with it whether another account has
/// an entry for a request.
///
/// One account may have several keys for one request, because cookies and secret fields are part of a key, too.
struct OwnerCounts: Sendable {
  private struct Owner: Sendable, Hashable {
    let anyAccount: Digest
    let account: Digest
  }

  private var all: [Digest: Int] = [:]
  private var owned: [Owner: Int] = [:]

  /// Counts a key that had no entries before.
  mutating func add(_ key: CacheKey) {
    all[key.anyAccount, default: 0] += 1
    owned[Self.owner(key), default: 0] += 1
  }

  /// Stops counting a key that has no entries any more.
  mutating func remove(_ key: CacheKey) {
    Self.decrement(&all[key.anyAccount])
    Self.decrement(&owned[Self.owner(key)])
  }

  /// Whether another account than the given ones has an entry for a request.
  func includeOthers(_ anyAccount: Digest, than accounts: [Digest]) -> Bool {
    guard let all = all[anyAccount] else { return false }
    return all > Set(accounts).reduce(0) { $0 + owned[Owner(anyAccount: anyAccount, account: $1), default: 0] }
  }

  private static func owner(_ key: CacheKey) -> Owner { Owner(anyAccount: key.anyAccount, account: key.account) }

  private static func decrement(_ count: inout Int?) {
    if let old = count { count = old > 1 ? old - 1 : nil }
  }
}
