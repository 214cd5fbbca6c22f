import ErrandSupport

/// Which entries to remove.
public enum CacheSelection: Sendable, Hashable {
  /// All of them.
  case all
  /// All variants under one key.
  case key(CacheKey)
  /// One variant.
  case variant(CacheKey, Digest)
  /// Everything for one URL and one account: see ``CacheKey/target``.
  case target(Digest)
  /// Everything of one account: see ``CacheKey/account``.
  case account(Digest)
  /// Everything from one host, in lower case.
  case host(String)
  /// Everything that calls with this tag stored.
  case tag(String)
  /// Everything received before a moment.
  case olderThan(WallTime)
}

extension CacheSelection {
  /// Whether it names entries by digests, which stand for something under one salt alone.
  var isByDigest: Bool {
    switch self {
    case .key, .variant, .target, .account: true
    case .all, .host, .tag, .olderThan: false
    }
  }

  /// Whether it means the entry with this key and this head.
  public func picks(_ key: CacheKey, _ head: CacheEntryHead) -> Bool {
    switch self {
    case .all: true
    case .key(let other): key == other
    case .variant(let other, let variant): key == other && head.variant == variant
    case .target(let target): key.target == target
    case .account(let account): key.account == account
    case .host(let host): head.label.host == host
    case .tag(let tag): head.label.tag.hasSameBytes(as: tag)
    case .olderThan(let time): head.responseTime < time
    }
  }
}
