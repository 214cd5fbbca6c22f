import Foundation

/// A pending write that is ready for a transaction. Encoding and encryption are already done.
enum PreparedWrite {
  case put(CacheEntryRecord, stored: Data, isSealed: Bool, StoreCost)
  case renew(CacheKey, stored: WallTime, head: CacheEntryHead)
  case remove(CacheSelection)
  case nothing

  /// Prepares a write. An entry to store is encoded and encrypted. If the entry is too large or its encryption fails,
  /// the prepared write removes all entries under its key instead: see ``CacheStore/put(_:)``.
  init(_ write: PendingWrites.Write, settings: StoreSettings) {
    switch write {
    case .removeMany, .barrier: self = .nothing
    case .renew(let key, let stored, let head): self = .renew(key, stored: stored, head: head)
    case .remove(let selection): self = .remove(selection)
    case .displace(let key, let variant): self = .remove(.displaced(key, variant))
    case .put(let entry):
      let isSealed = settings.sealing != nil
      guard let stored = isSealed ? try? settings.sealing?.seal(entry.body) : entry.body,
        stored.count + entry.head.estimatedCost <= settings.entryLimit
      else {
        self = .remove(.key(entry.key))
        return
      }
      let record = CacheEntryRecord(key: entry.key, head: entry.head, storedBody: stored)
      let cost = StoreCost(head: entry.head.estimatedCost, body: stored.count, settings: settings)
      self = .put(record, stored: stored, isSealed: isSealed, cost)
    }
  }

  var cost: StoreCost { if case .put(_, _, _, let cost) = self { cost } else { .none } }

  /// Whether the removed data must also be erased from the free pages and the write-ahead log of the SQLite index.
  var leavesTraces: Bool { if case .remove(let selection) = self { selection.leavesTraces } else { false } }

  /// Carries out the write in the index.
  /// - Parameter fits: Whether the store has space for the entry. If not, the write only removes the entries under its
  ///   key.
  func apply(_ index: StoreIndex, fits: Bool) throws(SQLiteFailure) {
    switch self {
    case .put(let record, let stored, let isSealed, _) where fits:
      try index.put(record, stored: stored, isSealed: isSealed, now: .now)
    case .put(let record, _, _, _): try index.remove(.key(record.key))
    case .renew(let key, let stored, let head): try index.renew(key, stored: stored, head: head, now: .now)
    case .remove(let selection): try index.remove(selection)
    case .nothing: break
    }
  }
}

extension CacheSelection {
  /// Whether the selected data must also be erased from the free pages and the write-ahead log of the SQLite index.
  var leavesTraces: Bool {
    switch self {
    case .all, .account: true
    case .key, .variant, .target, .olderThan, .host, .tag, .groups: false
    }
  }

  /// Whether the selection can contain entries of more than one URL.
  var isPurge: Bool { leavesTraces || dependsOnHead }
}
