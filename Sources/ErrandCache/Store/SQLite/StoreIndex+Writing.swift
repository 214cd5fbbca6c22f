import Foundation

/// Functions that change the index. All functions of this extension must be called inside a transaction.
extension StoreIndex {
  /// Stores an entry. It replaces an existing entry with an equal key and variant.
  func put(_ record: CacheEntryRecord, stored: Data, isSealed: Bool, now: WallTime) throws(SQLiteFailure) {
    let old = try makePlace(record)
    let file = stored.count > settings.inlineLimit ? try addFile(stored) : nil
    let statement = try statement(.insert)
    defer { statement.reset() }
    let key = record.key
    statement.bind(1, old)
    for (index, digest) in [key.entry, record.head.variant, key.anyAccount, key.target, key.account].enumerated() {
      statement.bind(Int32(index + 2), digest.index)
    }
    statement.bind(7, record.head.label.host)
    statement.bind(8, record.head.label.tag)
    statement.bind(9, record.head.responseTime.milliseconds)
    statement.bind(10, now.milliseconds)
    statement.bind(11, Int64(stored.count))
    statement.bind(12, isSealed ? 1 : Int64(0))
    statement.bind(13, file)
    let failure: SQLiteFailure? = record.bytes.withUnsafeBytes { head in
      stored.withUnsafeBytes { body in
        statement.bind(14, staying: head)
        statement.bind(15, staying: file == nil ? body : nil)
        return statement.finish()
      }
    }
    if let failure { throw failure }
  }

  /// Prepares the index for a new entry. Removes the body file of the entry that is replaced, and the oldest variants
  /// if the key has too many. Returns the id of the row that the new entry overwrites; nil if no row is overwritten.
  private func makePlace(_ record: CacheEntryRecord) throws(SQLiteFailure) -> Int64? {
    let statement = try statement(.siblings)
    statement.bind(1, record.key.entry.index)
    var (same, others): ([Int64], [Int64]) = ([], [])
    while try statement.step() {
      let isSame = statement.number(1) == record.head.variant.index
      if isSame { same.append(statement.number(0)) } else { others.append(statement.number(0)) }
      if same.count == 1, isSame, let file = statement.text(2) {
        removeFile(file, bytes: statement.number(3))
      }
    }
    statement.reset()
    for id in same.dropFirst() + others.dropFirst(MemoryEntries.mostVariants - 1) { try remove(.removeRow, id) }
    return same.first
  }

  /// Replaces the head (status, fields and cache data) of an entry. Has no effect if the entry no longer has the
  /// response time `stored`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, now: WallTime) throws(SQLiteFailure) {
    let found = try rows(key, withBody: false).rows
      .first { $0.record.head.variant == head.variant && $0.record.head.responseTime == stored }
    guard let found else { return }
    if head.isMemoryOnly { return try remove(.removeRow, found.id) }
    let statement = try statement(.renew)
    defer { statement.reset() }
    statement.bind(1, found.id)
    statement.bind(2, head.label.host)
    statement.bind(3, head.label.tag)
    statement.bind(4, head.responseTime.milliseconds)
    statement.bind(5, now.milliseconds)
    let failure = found.record.renewed(head).bytes.withUnsafeBytes { bytes in
      statement.bind(6, staying: bytes)
      return statement.finish()
    }
    if let failure { throw failure }
  }

  /// Removes the selected entries. Their body files are removed after the transaction has succeeded.
  func remove(_ selection: CacheSelection) throws(SQLiteFailure) {
    switch selection {
    case .all:
      try run(.files) { statement in removeFile(statement.text(0) ?? "", bytes: 0) }
      try run(.removeAll)
      try run(.setFileBytes, 0)
    case .key(let key): for row in try rowIDs(key.entry.index) { try remove(.removeRow, row.id) }
    case .variant(let key, let variant):
      for row in try rowIDs(key.entry.index) where row.variant == variant.index { try remove(.removeRow, row.id) }
    case .target(let target): try remove(.removeTarget, target.index)
    case .account, .host, .tag, .groups, .olderThan: if let purges = PurgeSet(selection) { try remove(purges) }
    }
  }

  /// Removes the rows that one of the removals selects.
  func remove(_ purges: PurgeSet) throws(SQLiteFailure) {
    for id in try ids(purges, pause: {}) { try remove(.removeRow, id) }
  }

  /// Removes a row if one of the removals selects it.
  func remove(_ purges: PurgeSet, _ id: Int64) throws(SQLiteFailure) {
    if try picks(purges, id) { try remove(.removeRow, id) }
  }

  /// Removes the entries of a key; only some variants if `variants` says so.
  func remove(_ entry: Int64, _ variants: CompactRemovals.Variants) throws(SQLiteFailure) {
    for row in try rowIDs(entry) where variants.contains(row.variant) { try remove(.removeRow, row.id) }
  }

  func remove(_ query: StoreQuery, _ value: Int64) throws(SQLiteFailure) {
    try run(query, bind: { $0.bind(1, value) }, forgetFile)
  }

  private func forgetFile(_ statement: SQLiteStatement) {
    if let file = statement.text(0) { removeFile(file, bytes: statement.number(1)) }
  }

  private func rowIDs(_ entry: Int64) throws(SQLiteFailure) -> [(id: Int64, variant: Int64)] {
    var rows: [(Int64, Int64)] = []
    try run(.siblings, bind: { $0.bind(1, entry) }) { rows.append(($0.number(0), $0.number(1))) }
    return rows
  }

  /// Writes the times at which entries were last used. If the index contains a later time for an entry, that time is
  /// kept. But a time in the future is replaced, because the clock was set back after that use.
  func touch(_ uses: [(place: PendingUses.Place, time: WallTime)]) throws(SQLiteFailure) {
    let statement = try statement(.touch)
    let now = WallTime.now.milliseconds
    for use in uses {
      statement.bind(1, use.place.entry)
      statement.bind(2, use.place.variant)
      statement.bind(3, use.time.milliseconds)
      statement.bind(4, now)
      try statement.run()
    }
  }

  /// Returns those of the given selections for which the index may contain entries.
  func held(_ selections: [CacheSelection]) throws(SQLiteFailure) -> [CacheSelection] {
    var held: [CacheSelection] = []
    for selection in selections where try mayHold(selection) { held.append(selection) }
    return held
  }

  /// Whether the index may contain selected entries. For a selection of one key or variant this function looks into the
  /// index. For any other selection it returns true without a lookup.
  private func mayHold(_ selection: CacheSelection) throws(SQLiteFailure) -> Bool {
    switch selection {
    case .key(let key): try !rowIDs(key.entry.index).isEmpty
    case .variant(let key, let variant): try rowIDs(key.entry.index).contains { $0.variant == variant.index }
    case .all, .target, .account, .host, .tag, .olderThan, .groups: true
    }
  }

  private func run(
    _ query: StoreQuery, bind: (SQLiteStatement) -> Void = { _ in }, _ visit: (SQLiteStatement) -> Void
  ) throws(SQLiteFailure) {
    let statement = try statement(query)
    defer { statement.reset() }
    bind(statement)
    while try statement.step() { visit(statement) }
  }
}
