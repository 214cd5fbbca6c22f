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
  /// Selects all entries of one URL and one account, or of all callers without an account: see ``CacheKey/target``.
  case target(Digest)
  /// Selects all entries of one account: see ``CacheKey/account``.
  case account(Digest)
  /// Selects all entries of one host. The name of the host is in lower case.
  case host(String)
  /// Selects all entries that calls with this tag stored.
  case tag(String)
  /// Selects all entries whose responses belong to one of the groups, for all accounts: see ``CacheEntryHead/groups``.
  case groups(Set<CacheGroup>)
  /// Selects all entries that were received before a point in time.
  case olderThan(WallTime)
}

extension CacheSelection {
  /// Selects all entries whose responses belong to a group of an origin, for all accounts.
  public static func group(_ group: CacheGroup) -> CacheSelection { .groups([group]) }

  /// Selects all entries of a host that a person has written: in upper case, with letters beyond ASCII, or an IPv6
  /// address without brackets. Entries are labelled with the host as it is sent.
  package static func entries(ofHost host: String) -> CacheSelection {
    // The second form is for an IPv6 address without brackets.
    let url = (try? HTTPURL("http://\(host)")) ?? (try? HTTPURL("http://[\(host)]"))
    return .host(url?.host ?? host.lowercased())
  }

  /// Whether both select the same entries. Hosts and tags are compared byte by byte.
  public static func == (left: CacheSelection, right: CacheSelection) -> Bool {
    switch (left, right) {
    case (.all, .all): true
    case (.key(let key), .key(let other)): key == other
    case (.variant(let key, let variant), .variant(let other, let otherVariant)):
      key == other && variant == otherVariant
    case (.target(let digest), .target(let other)), (.account(let digest), .account(let other)): digest == other
    case (.host(let text), .host(let other)), (.tag(let text), .tag(let other)): text.hasSameBytes(as: other)
    case (.groups(let groups), .groups(let other)): groups == other
    case (.olderThan(let time), .olderThan(let other)): time == other
    case (.all, _), (.key, _), (.variant, _), (.target, _), (.account, _), (.host, _), (.tag, _), (.groups, _),
      (.olderThan, _):
      false
    }
  }

  /// Hashes the key or the digest, the host, the tag, the groups or the time.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .all: hasher.combine(0)
    case .key(let key), .variant(let key, _): hasher.combine(key)
    case .target(let digest), .account(let digest): hasher.combine(digest)
    case .host(let text), .tag(let text): hasher.combine(ByteText(text))
    case .groups(let groups): hasher.combine(groups)
    case .olderThan(let time): hasher.combine(time)
    }
  }

  /// Whether the entries are selected by digests. Digests are valid only for the store whose salt they were computed
  /// with.
  var isByDigest: Bool {
    switch self {
    case .key, .variant, .target, .account: true
    case .all, .host, .tag, .groups, .olderThan: false
    }
  }

  /// Whether the selection may include only some of the entries that were stored one after the other under one key as
  /// the same variant.
  var dependsOnHead: Bool {
    switch self {
    case .host, .tag, .groups, .olderThan: true
    case .all, .key, .variant, .target, .account: false
    }
  }

  /// Whether the selection includes an entry with this key and this head.
  public func picks(_ key: CacheKey, _ head: CacheEntryHead) -> Bool {
    switch self {
    case .variant(let other, let variant): key == other && head.variant == variant
    case .groups(let groups): head.belongs(to: groups)
    case .all, .key, .target, .account, .host, .tag, .olderThan:
      covers(key, head.label, received: head.responseTime)
    }
  }

  /// The approximate number of bytes that the selection takes in memory.
  package var cost: Int {
    switch self {
    case .host(let text), .tag(let text): 320 + text.utf8.count
    case .groups(let groups): groups.reduce(320) { $0 + 64 + $1.origin.utf8.count + $1.name.utf8.count }
    case .all, .key, .variant, .target, .account, .olderThan: 320
    }
  }
}

extension CacheSelection {
  /// Writes the selection: a number for its case, then the digests, the host, the tag, the time or the groups (their
  /// number, then the origin and the name of each) that it contains.
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
    case .groups(let groups):
      writer.byte(8)
      writer.length(groups.count)
      for group in groups {
        writer.text(group.origin)
        writer.text(group.name)
      }
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
    case 8:
      var groups: Set<CacheGroup> = []
      for _ in 0..<(try reader.count()) {
        groups.insert(CacheGroup(origin: try reader.text(), name: try reader.text()))
      }
      self = .groups(groups)
    default: throw ByteReader.Malformed()
    }
  }
}

extension CacheKey {
  func write(to writer: inout ByteWriter) {
    for digest in [entry, anyAccount, target, account] { writer.digest(digest) }
  }

  init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
    self.init(
      entry: try reader.digest(), anyAccount: try reader.digest(), target: try reader.digest(),
      account: try reader.digest())
  }
}
