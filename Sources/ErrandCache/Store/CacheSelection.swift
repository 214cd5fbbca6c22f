import ErrandCore
import ErrandSupport

/// Selects entries for removal.
public enum CacheSelection: Sendable, Hashable {
  /// Selects all entries.
  case all
  /// Selects all responses under one key, that is, all variants.
  case key(CacheKey)
  /// Selects one variant: a response under a key, identified by its ``CacheEntryHead/variant``.
  case variant(CacheKey, Digest)
  /// Selects all entries of one URL and one account: see ``CacheKey/target``.
  case target(Digest)
  /// Selects all entries of one account: see ``CacheKey/account``.
  case account(Digest)
  /// Selects all entries of one host. The name of the host is in lower case.
  case host(String)
  /// Selects all entries that calls with this tag stored.
  case tag(String)
  /// Selects all entries that were received before a point in time.
  case olderThan(WallTime)
}

extension CacheSelection {
  /// Whether the entries are selected by digests. Digests are valid only for the store whose salt they were computed
  /// with.
  var isByDigest: Bool {
    switch self {
    case .key, .variant, .target, .account: true
    case .all, .host, .tag, .olderThan: false
    }
  }

  /// Whether the selection includes an entry with this key and this head.
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

extension CacheSelection {
  /// Writes the selection: a number for its case, then the digests, the host, the tag or the time that it contains.
  func write(to writer: inout ByteWriter) {
    switch self {
    case .all: writer.byte(0)
    case .key(let key):
      writer.byte(1)
      key.write(to: &writer)
    case .variant(let key, let variant):
      writer.byte(2)
      key.write(to: &writer)
      writer.digest(variant)
    case .target(let target):
      writer.byte(3)
      writer.digest(target)
    case .account(let account):
      writer.byte(4)
      writer.digest(account)
    case .host(let host):
      writer.byte(5)
      writer.text(host)
    case .tag(let tag):
      writer.byte(6)
      writer.text(tag)
    case .olderThan(let time):
      writer.byte(7)
      writer.fixed(time.milliseconds)
    }
  }

  init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    switch try reader.byte() {
    case 0: self = .all
    case 1: self = .key(try CacheKey(from: &reader))
    case 2: self = .variant(try CacheKey(from: &reader), try reader.digest())
    case 3: self = .target(try reader.digest())
    case 4: self = .account(try reader.digest())
    case 5: self = .host(try reader.text())
    case 6: self = .tag(try reader.text())
    case 7: self = .olderThan(WallTime(milliseconds: try reader.signed()))
    default: throw ByteReader.Malformed()
    }
  }
}

extension CacheKey {
  fileprivate func write(to writer: inout ByteWriter) {
    for digest in [entry, anyAccount, target, account] { writer.digest(digest) }
  }

  fileprivate init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    self.init(
      entry: try reader.digest(), anyAccount: try reader.digest(), target: try reader.digest(),
      account: try reader.digest())
  }
}
