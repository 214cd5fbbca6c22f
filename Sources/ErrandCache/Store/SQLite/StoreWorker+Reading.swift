import ErrandCore
import ErrandSupport
import Foundation

extension StoreWorker {
  /// A response that a lookup may select. It is on disk or waits to be written.
  private struct Candidate {
    let head: CacheEntryHead
    /// The row on disk; nil if the entry is not written yet.
    let row: StoreRow?
    let entry: CacheEntry?
  }

  func find(_ key: CacheKey, _ choosing: ([CacheEntryHead]) -> Int?) -> CacheLookup {
    do throws(SQLiteFailure) {
      let found = try using { index throws(SQLiteFailure) in try look(index, key, choosing) }
      mailbox.outageCause.withLock { $0 = nil }
      return found
    } catch {
      let cause = error.cause(in: settings.folder.path)
      mailbox.outageCause.withLock { $0 = cause }
      return error.meaning == .broken ? .damaged : .unavailable
    }
  }

  func holdsForOthers(_ anyAccount: Digest, than accounts: [Digest]) -> Bool {
    let records = try? using { index throws(SQLiteFailure) in try index.records(anyAccount: anyAccount) }
    return records?.contains { record in
      !accounts.contains(record.key.account)
        && mailbox.pending { $0.view(record.key) }.head(record.key, record.head) != nil
    } ?? false
  }

  /// Lists all entries, in no particular order. Nil if the index cannot be read now. Pending lookups run between the
  /// slices in which the entries are read.
  func list() -> [CacheListing]? {
    try? using { index throws(SQLiteFailure) in
      try? writeUses(index)
      return try index.listings(pause: pause).filter { !failed.hides($0.key, $0.head) }
    }
  }

  func size() -> CacheSize {
    let size = try? using { index throws(SQLiteFailure) in try index.size() }
    return size ?? CacheSize(entries: 0, bytes: 0, limit: settings.limit)
  }

  private func look(
    _ index: StoreIndex, _ key: CacheKey, _ choosing: ([CacheEntryHead]) -> Int?
  ) throws(SQLiteFailure) -> CacheLookup {
    var last: StoreRow?
    for _ in 0..<3 {
      let view = mailbox.pending { $0.view(key) }
      let found = try index.rows(key, withBody: true)
      drop(index, found.damaged)
      let candidates = Self.candidates(view, found.rows.filter { !failed.hides($0.record.key, $0.record.head) })
      guard !candidates.isEmpty else { return found.damaged.isEmpty ? .missing : .damaged }
      let heads = candidates.map(\.head)
      guard let choice = choosing(heads), heads.indices.contains(choice) else { return .refused(heads) }
      guard let row = candidates[choice].row else {
        return candidates[choice].entry.map { .found($0) } ?? .missing
      }
      if let stored = try index.storedBody(row) {
        return take(index, row, stored, heads[choice])
      }
      // The body could not be read. Usually the reason is that another process has replaced the entry, so look again.
      last = row
    }
    drop(index, last.map { [$0.id] } ?? [])
    return .damaged
  }

  private static func candidates(_ view: PendingWrites.View, _ rows: [StoreRow]) -> [Candidate] {
    let pending = view.entries.map { Candidate(head: $0.head, row: nil, entry: $0) }
    let stored = rows.compactMap { row in
      view.head(row.record.key, row.record.head).map { Candidate(head: $0, row: row, entry: nil) }
    }
    guard !pending.isEmpty || !view.changes.isEmpty else { return stored }
    return (pending + stored).sorted { $0.head.responseTime > $1.head.responseTime }
  }

  private func take(_ index: StoreIndex, _ row: StoreRow, _ stored: Data, _ head: CacheEntryHead) -> CacheLookup {
    guard row.record.fits(storedBody: stored), row.isSealed == (settings.sealing != nil),
      let body = row.isSealed ? try? settings.sealing?.open(stored) : stored
    else {
      drop(index, [row.id])
      return .damaged
    }
    mailbox.recordUse(row.record.key, head.variant)
    return .found(CacheEntry(key: row.record.key, head: head, body: body))
  }

  /// Removes damaged rows from the index. Does nothing if another process holds the lock of the index.
  private func drop(_ index: StoreIndex, _ rows: [Int64]) {
    guard !rows.isEmpty else { return }
    waiting(.never) {
      _ = try? index.transaction { () throws(SQLiteFailure) in
        for id in rows { try index.remove(.removeRow, id) }
      }
    }
  }
}
