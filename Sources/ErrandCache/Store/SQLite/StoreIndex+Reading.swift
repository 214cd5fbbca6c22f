import Foundation

extension StoreIndex {
  /// The rows of the index that belong to one cache key.
  struct Rows {
    /// The entries under the key, newest first.
    var rows: [StoreRow] = []
    /// The values of the column `id` of the rows whose record is damaged.
    var damaged: [Int64] = []
  }

  /// Reads the entries under a key. The body of the newest entry is read, too, because usually this entry is selected.
  func rows(_ key: CacheKey, withBody: Bool) throws(SQLiteFailure) -> Rows {
    let statement = try statement(.rows)
    defer { statement.reset() }
    statement.bind(1, key.entry.index)
    var found = Rows()
    while try statement.step() {
      guard var row = row(statement) else {
        found.damaged.append(statement.number(0))
        continue
      }
      guard row.record.key == key else { continue }
      if withBody, found.rows.isEmpty, row.file == nil { row.body = Data(statement.bytes(4)) }
      found.rows.append(row)
    }
    return found
  }

  /// Reads the stored body of an entry. Nil if the entry has been removed or replaced, or if its body file cannot be
  /// read.
  func storedBody(_ row: StoreRow) throws(SQLiteFailure) -> Data? {
    if let body = row.body { return body }
    if let file = row.file { return files.read(file, length: row.record.bodyLength) }
    let statement = try statement(.body)
    defer { statement.reset() }
    statement.bind(1, row.id)
    guard try statement.step(), CacheEntryRecord(bytes: statement.bytes(1))?.bodyChecksum == row.record.bodyChecksum
    else { return nil }
    return Data(statement.bytes(0))
  }

  /// Reads the records of all entries whose key has the digest `anyAccount`: the responses to one request for all
  /// accounts.
  func records(anyAccount: Digest) throws(SQLiteFailure) -> [CacheEntryRecord] {
    let statement = try statement(.anyAccount)
    defer { statement.reset() }
    statement.bind(1, anyAccount.index)
    var records: [CacheEntryRecord] = []
    while try statement.step() {
      if let row = row(statement), row.record.key.anyAccount == anyAccount { records.append(row.record) }
    }
    return records
  }

  /// Reads all entries, in no particular order. `pause` is called after each slice of entries.
  func listings(pause: () -> Void) throws(SQLiteFailure) -> [CacheListing] {
    var list: [CacheListing] = []
    try scan(.list, by: 128, pause: pause) { statement in
      guard let record = row(statement)?.record else { return }
      list.append(
        CacheListing(
          head: record.head, key: record.key, bodyLength: record.bodyLength,
          lastUse: WallTime(milliseconds: statement.number(4))))
    }
    return list
  }

  /// Reads the ids of the entries that one of the removals selects. `pause` is called after each slice of entries.
  func ids(_ purges: PurgeSet, pause: () -> Void) throws(SQLiteFailure) -> [Int64] {
    var ids: [Int64] = []
    try scan(.labels, by: 1_024, pause: pause) { statement throws(SQLiteFailure) in
      if try picks(purges, statement) { ids.append(statement.number(0)) }
    }
    return ids
  }

  /// Reads all rows in slices of `size` rows. `visit` is called for each row, and `pause` after each slice.
  ///
  /// The slices are ordered by `id`, which does not change when an entry is used. So no entry that stays in the index
  /// is missed.
  private func scan(
    _ query: StoreQuery, by size: Int64, pause: () -> Void, _ visit: (SQLiteStatement) throws(SQLiteFailure) -> Void
  ) throws(SQLiteFailure) {
    var last: Int64? = .min
    while let id = last {
      last = try slice(query, after: id, size, visit)
      pause()
    }
  }

  /// Reads the next slice of rows. Returns the id of the last one; nil if all rows have been read.
  private func slice(
    _ query: StoreQuery, after id: Int64, _ size: Int64, _ visit: (SQLiteStatement) throws(SQLiteFailure) -> Void
  ) throws(SQLiteFailure) -> Int64? {
    let statement = try statement(query)
    defer { statement.reset() }
    statement.bind(1, id)
    statement.bind(2, size)
    var last: Int64?
    while try statement.step() {
      last = statement.number(0)
      try visit(statement)
    }
    return last
  }

  /// Whether one of the removals selects a row. Another process may have replaced the row since its id was read.
  func picks(_ purges: PurgeSet, _ id: Int64) throws(SQLiteFailure) -> Bool {
    let statement = try statement(.labels)
    defer { statement.reset() }
    statement.bind(1, id &- 1)
    statement.bind(2, 1)
    guard try statement.step(), statement.number(0) == id else { return false }
    return try picks(purges, statement)
  }

  private func picks(_ purges: PurgeSet, _ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
    let host = statement.text(2) ?? ""
    if purges.picks(
      account: statement.number(1), host: host, tag: statement.text(3),
      received: WallTime(milliseconds: statement.number(4)))
    {
      return true
    }
    guard purges.needsHead(host: host), let head = try head(statement.number(0)) else { return false }
    return purges.picks(head)
  }

  /// Reads the head of an entry. Nil if the entry has been removed, or if its record is damaged.
  private func head(_ id: Int64) throws(SQLiteFailure) -> CacheEntryHead? {
    let statement = try statement(.head)
    defer { statement.reset() }
    statement.bind(1, id)
    return try statement.step() ? CacheEntryRecord(bytes: statement.bytes(0))?.head : nil
  }

  func size() throws(SQLiteFailure) -> CacheSize {
    CacheSize(
      entries: try number(.count), bytes: settings.folder.indexLength + (try fileBytes()), limit: settings.limit)
  }

  /// Decodes the current row of a statement; nil if its record is damaged. The first columns of the statement must be
  /// `id`, `head`, `file` and `form`.
  private func row(_ statement: SQLiteStatement) -> StoreRow? {
    guard let record = CacheEntryRecord(bytes: statement.bytes(1)) else { return nil }
    return StoreRow(
      id: statement.number(0), record: record, file: statement.text(2), isSealed: statement.number(3) == 1, body: nil)
  }
}

extension Digest {
  /// The first eight bytes of the digest. The columns of the index contain only these bytes of a digest.
  var index: Int64 { Int64(bitPattern: words.0) }
}

/// One entry as the index stores it.
struct StoreRow {
  let id: Int64
  let record: CacheEntryRecord
  /// The name of the body file; nil if the index contains the body.
  let file: String?
  let isSealed: Bool
  /// The stored body, if it was read together with the row; otherwise nil.
  var body: Data?
}
