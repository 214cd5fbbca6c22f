/// A removal of entries that have an account, host, tag or age in common. It is carried out in several transactions,
/// because it may affect most entries of the index.
///
/// A removal by group needs the fields of each response, which no column contains, so ``PurgeSet`` carries it out.
enum SlicedRemoval {
  case account(Int64)
  case host(String)
  case tag(String)
  case olderThan(Int64)

  /// Nil if the selection contains all entries, or only entries that are found by one look into the index.
  init?(_ selection: CacheSelection) {
    switch selection {
    case .account(let account): self = .account(account.index)
    case .host(let host): self = .host(host)
    case .tag(let tag): self = .tag(tag)
    case .olderThan(let time): self = .olderThan(time.milliseconds)
    case .all, .key, .variant, .target, .groups: return nil
    }
  }

  /// Reads the ids of some rows, and whether each row is selected.
  var scan: StoreQuery {
    switch self {
    case .account: .scanAccount
    case .host: .scanHost
    case .tag: .scanTag
    case .olderThan: .scanOlder
    }
  }

  /// Removes one row if it is selected.
  var removal: StoreQuery {
    switch self {
    case .account: .removeAccountRow
    case .host: .removeHostRow
    case .tag: .removeTagRow
    case .olderThan: .removeOlderRow
    }
  }

  /// Binds the account, host, tag or time, which is the first parameter of both statements.
  func bind(_ statement: SQLiteStatement) {
    switch self {
    case .account(let value), .olderThan(let value): statement.bind(1, value)
    case .host(let value), .tag(let value): statement.bind(1, value)
    }
  }
}
