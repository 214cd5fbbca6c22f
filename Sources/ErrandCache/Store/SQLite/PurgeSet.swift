import ErrandCore
import ErrandSupport

/// Removals by account, host, tag, group and age. They are carried out together, in one pass over all entries.
struct PurgeSet: Sendable {
  private var accounts: Set<Digest> = []
  /// The first eight bytes of the accounts, which the index on the disk contains.
  private var accountIndexes: Set<Int64> = []
  private var hosts: Set<ByteText> = []
  private var tags: Set<ByteText> = []
  private var groups: Set<CacheGroup> = []
  private var groupHosts: Set<ByteText> = []
  /// Entries that were received before this time are removed; nil if no entry is removed because of its age.
  private var older: WallTime?
  /// The approximate number of bytes that the removals take.
  private(set) var cost = 0

  init() {}

  /// Nil if the removal is not by account, host, tag, group or age.
  init?(_ selection: CacheSelection) {
    guard insert(selection) else { return nil }
  }

  var isEmpty: Bool { accounts.isEmpty && hosts.isEmpty && tags.isEmpty && groups.isEmpty && older == nil }

  /// Whether the removed data must also be erased from the free pages and the write-ahead log of the index.
  var leavesTraces: Bool { !accounts.isEmpty }

  /// Whether a removal is by a group of this host, so that the columns of a row are not enough to decide about it.
  func needsHead(host: String) -> Bool { !groupHosts.isEmpty && groupHosts.contains(ByteText(host)) }

  /// Adds a removal. Returns false if it is not by account, host, tag, group or age.
  mutating func insert(_ selection: CacheSelection) -> Bool {
    var isNew = true
    switch selection {
    case .account(let account):
      isNew = accounts.insert(account).inserted
      accountIndexes.insert(account.index)
    case .host(let host): isNew = hosts.insert(ByteText(host)).inserted
    case .tag(let tag): isNew = tags.insert(ByteText(tag)).inserted
    case .groups(let others):
      isNew = !groups.isSuperset(of: others)
      groups.formUnion(others)
      groupHosts.formUnion(others.map { ByteText($0.host) })
    case .olderThan(let time):
      isNew = older == nil
      older = max(older ?? time, time)
    case .all, .key, .variant, .target: return false
    }
    if isNew { cost += selection.cost }
    return true
  }

  /// The removals, in no particular order.
  var selections: [CacheSelection] {
    accounts.map { .account($0) } + hosts.map { .host($0.text) } + tags.map { .tag($0.text) }
      + (groups.isEmpty ? [] : [.groups(groups)]) + (older.map { [.olderThan($0)] } ?? [])
  }

  /// Whether one of the removals selects an entry.
  func picks(_ key: CacheKey, _ head: CacheEntryHead) -> Bool {
    accounts.contains(key.account) || picks(host: head.label.host, tag: head.label.tag, received: head.responseTime)
      || picks(head)
  }

  /// Whether one of the removals by group selects an entry.
  func picks(_ head: CacheEntryHead) -> Bool {
    head.mayBeInGroups && needsHead(host: head.label.host) && !groups.isDisjoint(with: head.memberships)
  }

  /// Whether one of the removals selects a row of the index, without the removals by group.
  func picks(account: Int64, host: String, tag: String?, received: WallTime) -> Bool {
    accountIndexes.contains(account) || picks(host: host, tag: tag, received: received)
  }

  private func picks(host: String, tag: String?, received: WallTime) -> Bool {
    if let older, received < older { return true }
    if !hosts.isEmpty, hosts.contains(ByteText(host)) { return true }
    guard let tag, !tags.isEmpty else { return false }
    return tags.contains(ByteText(tag))
  }
}
